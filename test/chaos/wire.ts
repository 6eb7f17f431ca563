import { makeNetns, type Netns } from '#test/support/netns.ts';
import { runProgram } from '#test/support/run-program.ts';

const BRIDGE = 'br0';

/** One layer 2 network for the pods of all nodes, so that a probe really meets whoever uses an address. */
export class Wire implements AsyncDisposable {
  readonly #fabric: Netns;
  readonly #plugged = new Set<Netns>();
  #links = 0;

  private constructor(fabric: Netns) {
    this.#fabric = fabric;
  }

  static async open(): Promise<Wire> {
    const fabric = await makeNetns();
    await ipIn(fabric, [`link add ${BRIDGE} type bridge`, `link set ${BRIDGE} up`]);
    return new Wire(fabric);
  }

  /** A namespace whose interfaces are on this network and have no address yet, as after a main plugin's first half. */
  async plug(interfaces: readonly string[]): Promise<Netns> {
    const netns = await makeNetns();
    this.#plugged.add(netns);
    const links = interfaces.map((name) => ({ name, port: this.#nextPort() }));
    await ipIn(
      this.#fabric,
      links.flatMap(({ name, port }) => [
        `link add ${port} type veth peer name ${name} netns ${netns.name}`,
        `link set ${port} master ${BRIDGE} up`,
      ]),
    );
    await ipIn(
      netns,
      links.map(({ name }) => `link set ${name} up`),
    );
    return netns;
  }

  /** From now on the namespace answers for the address. */
  async assign(netns: Netns, interfaceName: string, address: string): Promise<void> {
    await ipIn(netns, [`address add ${address}/24 dev ${interfaceName}`]);
  }

  async unplug(netns: Netns): Promise<void> {
    await netns.remove();
    this.#plugged.delete(netns);
  }

  #nextPort(): string {
    this.#links += 1;
    return `v${this.#links}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const netns of [...this.#plugged, this.#fabric]) await netns.remove();
  }
}

async function ipIn({ name }: Netns, commands: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram('ip', ['-n', name, '-batch', '-'], { stdin: `${commands.join('\n')}\n` });
  if (code !== 0) throw new Error(`ip in ${name}: ${stderr.trim()}`);
}
