/** What the programs answer to `--version`. A test compares it with package.json. */
export const VERSION = '0.1.0';
