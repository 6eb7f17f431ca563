import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { ExitCode, Session } from '#ctl/client/session.ts';
import { agentPieces } from '#ctl/support/agent-pieces.ts';
import { clusterPieces } from '#ctl/support/cluster-pieces.ts';
import { type GatheredFile, gather } from '#ctl/support/piece.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { type TarEntry, tar } from '#pkg/tar/tar.ts';
import { VERSION } from '#pkg/text/version.ts';

export interface SupportOptions {
  readonly file?: string;
  readonly namespace: string;
}

/** One archive with what a helper needs: exit code 1 if nothing of it could be read. */
export async function support(session: Session, { file, namespace }: SupportOptions): Promise<ExitCode> {
  const { client, cluster, terminal } = session;
  const at = new Date(terminal.nowMs());
  const name = `ipledger-support-${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const target = file ?? `${name}.tar.gz`;
  const pieces =
    cluster === undefined ? agentPieces(client) : await clusterPieces({ client: cluster, admin: client, namespace });
  const { files, missing } = await gather(pieces, (path) => terminal.complain(`read ${path}\n`));
  const archive = [
    { path: 'README.txt', text: README },
    { path: 'versions/ipledgerctl.txt', text: `${VERSION}\n` },
    { path: 'missing.txt', text: missing.map((line) => `${line}\n`).join('') },
    ...files,
  ];
  write(target, gzipSync(tar(inside(name, archive), at)));
  for (const line of missing) terminal.complain(`not read: ${line}\n`);
  terminal.write(`${target}: ${files.length} files, ${missing.length} could not be read.\n`);
  return files.length === 0 ? 1 : 0;
}

function inside(directory: string, files: readonly GatheredFile[]): TarEntry[] {
  return files.map(({ path, text }) => ({
    path: `${directory}/${path}`,
    mode: 0o600,
    type: 'file',
    content: Buffer.from(text),
  }));
}

/** Names of pods, namespaces and addresses are in it: only its owner may read it. */
function write(file: string, content: Buffer): void {
  try {
    writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'it exists already; choose another name with --file' : message;
    throw new IpamError('bad-input', `the archive ${file} cannot be written: ${why}`, { cause: thrown });
  }
}

const README = `What ipledger knows about a cluster or a host, for a person who helps with a problem.

It has names of pods, namespaces, nodes and applications, addresses, settings, Events, logs and metrics. It has no Secret, no
token, and no values of environment variables other than ipledger's own. Look through it before you pass it on.

versions    of ipledgerctl and the API server
settings    conf.yml and the adoption marker
workloads   Deployments, DaemonSets and pods of ipledger
ledger      pools, subnets, reserved addresses, records, and what "ipledgerctl check" finds
events      Events that ipledger wrote
logs        of the controllers and of at most 20 pods in all: those that are not ready or have restarted come first
metrics     of the same pods
missing.txt what could not be read, and why
`;
