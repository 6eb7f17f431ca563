/** What V8 counted in one module since it was last asked. */
export interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    /** The first one is the whole function. */
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

/** Asks a Node process that was started with `--inspect` which functions it called. */
export class Inspector implements Disposable {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #sent = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data));
      this.#waiting.get(id)?.(result);
    });
  }

  /** Node writes the address to stderr when it starts. */
  static async open(log: string): Promise<Inspector> {
    const [address] = /ws:\/\/\S+/.exec(log) ?? [];
    if (address === undefined) throw new Error(`no debugger listens; the process wrote:\n${log}`);
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    return new Inspector(socket);
  }

  async startCoverage(): Promise<void> {
    await this.#ask('Profiler.enable');
    await this.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  async takeCoverage(): Promise<readonly ScriptCoverage[]> {
    const { result } = (await this.#ask('Profiler.takePreciseCoverage')) as { result: ScriptCoverage[] };
    return result;
  }

  #ask(method: string, params: object = {}): Promise<unknown> {
    this.#sent += 1;
    const id = this.#sent;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}
