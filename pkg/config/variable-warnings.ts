import { nearestName } from '#pkg/text/nearest-name.ts';
import type { EnvReader } from './env-reader.ts';

/** Read by the plugin and by ipledgerctl. */
const OF_OTHERS = ['SOCKET', 'SPOOL'];
/** What kubelet writes for each service of the namespace. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT)(_\w+)?=|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?=|_PORT=(tcp|udp|sctp):/;

/**
 * What a daemon should say about its environment once it has read all of its own: Spiderpool's variables that have no
 * meaning here (`unused`), and unknown names. A misspelt switch must not be ignored in silence.
 */
export function findVariableWarnings(reader: EnvReader, unused: readonly string[]): string[] {
  const known = reader.names;
  const without = unused.filter((name) => !['', 'false', '0'].includes(reader.text(name, '')));
  for (const name of OF_OTHERS) reader.skip(name);
  const unknown = reader.unread().filter(([name, value]) => !SERVICE_LINK.test(`${name}=${value}`));
  return [
    ...without.map((name) => `SPIDERPOOL_${name} has no effect on ipledger`),
    ...unknown.map(([name]) => {
      const prefix = /^[A-Z]+_/.exec(name)?.[0] ?? '';
      const meant = nearestName(name.slice(prefix.length), known);
      return `unknown variable ${name} is ignored${meant === null ? '' : `; did you mean ${prefix}${meant}?`}`;
    }),
  ];
}
