import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { debianMirror } from './debian-mirror.ts';
import type { DebianPin, NpmPin } from './pins.ts';

const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ipledger/image');

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The directory `key` of the cache; `fill` makes it once. A name is there only with the whole content behind it. */
export async function cached(key: string, fill: (directory: string) => Promise<void> | void): Promise<string> {
  const target = join(CACHE, key);
  if (existsSync(target)) return target;
  mkdirSync(CACHE, { recursive: true });
  const unfinished = mkdtempSync(join(CACHE, '.unfinished-'));
  try {
    await fill(unfinished);
    renameSync(unfinished, target);
  } catch (thrown) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(target)) throw thrown; // otherwise another run was faster
  }
  return target;
}

/** The unpacked files of an npm package whose tarball has the pinned hash. */
export async function npmPackage({ name, version, integrity }: NpmPin): Promise<string> {
  const [algorithm = '', hash = ''] = integrity.split(/-(.*)/s);
  return await cached(
    `npm-${name.replace('/', '-')}-${version}-${hash.slice(0, 12).replaceAll('/', '_')}`,
    (directory) => {
      console.log(`fetching ${name} ${version} from the npm registry`);
      const [packed] = JSON.parse(
        execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--loglevel=error', `${name}@${version}`], {
          cwd: directory,
          encoding: 'utf8',
        }),
      );
      const file = join(directory, packed.filename);
      const found = createHash(algorithm).update(readFileSync(file)).digest('base64');
      if (found !== hash)
        throw new Error(`${name} ${version} from the npm registry has another hash than the pinned one`);
      execFileSync('tar', ['-xzf', file, '-C', directory, '--strip-components=1', '--no-same-owner']);
      rmSync(file);
    },
  );
}

/** The unpacked files of a Debian package that has the pinned hash, and its control file as `control`. */
export async function debianPackage({ name, version, path, sha256: expected }: DebianPin): Promise<string> {
  return await cached(`debian-${name}-${expected.slice(0, 16)}`, async (directory) => {
    const mirror = debianMirror();
    console.log(`fetching ${name} ${version} from ${mirror}`);
    const answer = await fetch(`${mirror}/${path}`);
    if (answer.status === 404)
      throw new Error(`${mirror} has no ${name} ${version} any more: hack/image --pin pins newer ones`);
    if (!answer.ok) throw new Error(`${mirror}/${path}: ${answer.status} ${answer.statusText}`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (sha256(bytes) !== expected) throw new Error(`${mirror}/${path} has another hash than the pinned one`);
    const file = join(directory, 'package.deb');
    writeFileSync(file, bytes);
    execFileSync('dpkg-deb', ['-x', file, join(directory, 'root')]);
    writeFileSync(join(directory, 'control'), execFileSync('dpkg-deb', ['-f', file]));
    rmSync(file);
  });
}
