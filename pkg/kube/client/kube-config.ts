import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
// The index of the package would import every API of Kubernetes.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import type { Access, LoadAccess } from '#pkg/kube/transport/connection.ts';

export type AccessSource =
  /** The service account of this pod. Tests set `root` to another directory than `/`. */
  | { readonly from: 'cluster'; readonly root?: string }
  /** Several files are merged as kubectl does it: the first one that says something is right, and a missing one is passed over. */
  | { readonly from: 'kubeconfig'; readonly file: string | readonly string[]; readonly context?: string };

/** Throws `bad-config` for a configuration that cannot work. Each load reads all files again. */
export function accessFrom(source: AccessSource): LoadAccess {
  let kept: KubeConfig | null = null;
  return async () => {
    // The answer of a credential plugin is kept in the object that ran it, with its expiry.
    const config = kept ?? readConfig(source);
    if (config.getCurrentUser()?.exec) kept = config;
    const access = await toAccess(config);
    const token = source.from === 'kubeconfig' ? await readTokenFile(source.file, config.getCurrentUser()?.name) : null;
    return token === null ? access : { ...access, headers: { ...access.headers, authorization: `Bearer ${token}` } };
  };
}

function readConfig(source: AccessSource): KubeConfig {
  const config = new KubeConfig();
  try {
    if (source.from === 'cluster') config.loadFromCluster(source.root);
    else mergeInto(config, readFiles(source.file));
  } catch (thrown) {
    throw badConfig(`the kubeconfig cannot be read: ${thrown instanceof Error ? thrown.message : thrown}`, thrown);
  }
  if (source.from === 'kubeconfig' && source.context !== undefined) config.setCurrentContext(source.context);
  return config;
}

function readFiles(file: string | readonly string[]): KubeConfig[] {
  if (typeof file === 'string') return [readFrom(file)];
  const there = file.filter((path) => existsSync(path));
  if (there.length === 0) throw new Error(`there is no file ${file.join(', no file ')}`);
  return there.map(readFrom);
}

/** Paths in a file are relative to its directory, so each is read by itself. */
function readFrom(file: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(file);
  return config;
}

/** The merge of client-node refuses a name that is in two files. */
function mergeInto(config: KubeConfig, files: readonly KubeConfig[]): void {
  config.clusters = firstOfEachName(files.flatMap(({ clusters }) => clusters));
  config.users = firstOfEachName(files.flatMap(({ users }) => users));
  config.contexts = firstOfEachName(files.flatMap(({ contexts }) => contexts));
  config.currentContext = files.find(({ currentContext }) => currentContext)?.currentContext ?? '';
}

function firstOfEachName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return [...new Map(items.toReversed().map((item) => [item.name, item])).values()].toReversed();
}

async function toAccess(config: KubeConfig): Promise<Access> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw badConfig(`the kubeconfig has no cluster for context ${config.getCurrentContext()}`);
  if (cluster.proxyUrl) throw badConfig(`cluster ${cluster.name}: proxy-url is not supported`);
  const server = URL.parse(cluster.server);
  if (server === null) throw badConfig(`${cluster.server} is not the address of an API server`);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return {
    origin: server.origin,
    pathPrefix: server.pathname.replace(/\/+$/, ''),
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(servername === undefined ? {} : { servername }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    },
    headers: toHeaders(options),
  };
}

/** A token file often ends in a newline, which is not allowed in a header. */
function toHeaders({ headers, auth }: RequestOptions): Record<string, string> {
  const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  const given = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value).trim()]);
  return { ...basic, ...Object.fromEntries(given) };
}

/** client-node does not support kubectl's `tokenFile`. It wins over `token`, and its path is relative to the kubeconfig. */
async function readTokenFile(from: string | readonly string[], userName: string | undefined): Promise<string | null> {
  for (const file of [from].flat().filter((path) => existsSync(path))) {
    const text = await readFile(file, 'utf8');
    if (!text.includes('tokenFile') && typeof from === 'string') return null;
    const { parse } = await import('yaml');
    const entry = parse(text)?.users?.find((it: unknown) => isMap(it) && it['name'] === userName);
    const path = entry?.user?.tokenFile;
    if (typeof path === 'string') return (await readFile(resolve(dirname(file), path), 'utf8')).trim();
    if (entry !== undefined) return null;
  }
  return null;
}

function badConfig(message: string, cause?: unknown): IpamError {
  return new IpamError('bad-config', message, { cause });
}
