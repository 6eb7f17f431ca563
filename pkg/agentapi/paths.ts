/** Where plugin, agent and ipledgerctl meet if nothing else is set; the path of Spiderpool, so that its plugin works too. */
export const DEFAULT_SOCKET = '/var/run/spidernet/spiderpool.sock';

/** Where the plugin leaves DELs while no agent listens. */
export const DEFAULT_SPOOL = '/var/lib/ipledger/spool';

/** The longest path a Unix socket may have on Linux, without its final zero. */
export const LONGEST_SOCKET_PATH = 107;
