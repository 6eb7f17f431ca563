import { type IncomingMessage, request } from 'node:http';
import { CLIENT_HEADER } from '#pkg/agentapi/wire.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** The labels in deploy/agent.yaml. */
const AGENT_PODS = 'app.kubernetes.io/name=ipledger,app.kubernetes.io/component=agent';

export interface CtlQuestion {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
}

export interface AgentAnswer {
  readonly status: number;
  readonly text: string;
}

export interface AgentPlace {
  readonly socketPath: string;
  readonly timeoutMs: number;
  /** The agent of a Kubernetes node is a pod. It must not be started by hand, and never with a ledger of its own. */
  readonly isKubernetesNode: boolean;
}

/** One request over the agent's socket. The IpamError that it throws names the socket and the cure. */
export async function ask(place: AgentPlace, question: CtlQuestion): Promise<AgentAnswer> {
  try {
    return await exchange(place.socketPath, question, AbortSignal.timeout(place.timeoutMs));
  } catch (thrown) {
    throw explainFailure(place, thrown);
  }
}

function exchange(socketPath: string, { method, path, body }: CtlQuestion, signal: AbortSignal): Promise<AgentAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<AgentAnswer>();
  const sent = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    [CLIENT_HEADER]: 'ipledgerctl',
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
  };
  const call = request({ socketPath, method, path, headers, agent: false, signal }, (response) => {
    readAll(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
  });
  call.on('error', reject);
  call.end(sent);
  return promise;
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new IpamError('io-failure', 'the agent answered more than 64 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function explainFailure({ socketPath, timeoutMs, isKubernetesNode }: AgentPlace, thrown: unknown): IpamError {
  if (thrown instanceof IpamError) return thrown;
  const { name, code, message } = thrown as NodeJS.ErrnoException;
  const failed = (text: string, details = '') => new IpamError('agent-unavailable', text, { details, cause: thrown });
  const start = isKubernetesNode
    ? `It is a pod of this node: kubectl get pods -A -o wide -l ${AGENT_PODS} (another socket: --socket; without an agent: --kubeconfig)`
    : `Start it: ipledger-agent --standalone --pools DIR --data DIR --socket ${socketPath} (another socket: --socket)`;
  if (code === 'ENOENT') return failed(`the agent is not running: there is no socket ${socketPath}`, start);
  if (code === 'ECONNREFUSED') return failed(`the agent is not running: no process listens on ${socketPath}`, start);
  if (code === 'EACCES' || code === 'EPERM') {
    return failed(`permission denied on ${socketPath}`, 'Only root may talk to the agent: run ipledgerctl as root.');
  }
  if (name === 'AbortError' || name === 'TimeoutError') {
    return failed(`the agent on ${socketPath} did not answer within ${timeoutMs / 1000} s`, 'Its log may say why.');
  }
  return failed(`the agent on ${socketPath} gave no answer: ${message}`);
}
