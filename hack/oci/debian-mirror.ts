import { execFileSync } from 'node:child_process';

/** Where Debian's packages come from: DEBIAN_MIRROR, else the mirror that apt of this machine uses; without the last folder. */
export function debianMirror(): string {
  const given = process.env['DEBIAN_MIRROR'];
  if (given) return given;
  const sites = execFileSync('apt-get', ['indextargets', '--format', '$(SITE)'], { encoding: 'utf8' }).split('\n');
  const site = sites.find((it) => it.endsWith('/debian'));
  if (site === undefined) throw new Error('apt of this machine knows no mirror of Debian: set DEBIAN_MIRROR');
  return site.slice(0, -'/debian'.length);
}
