/** Classic BPF in the form of SO_ATTACH_FILTER: loads, comparisons that jump forward, a verdict. */
export type BpfStep =
  | { readonly load: 'byte' | 'half' | 'word'; readonly at: number }
  | {
      readonly test: 'equals' | 'at-least';
      readonly value: number;
      readonly yes?: string;
      readonly no?: string;
    }
  | { readonly label: string }
  | { readonly give: 'whole-frame' | 'nothing' };

const LOAD = { byte: 0x30, half: 0x28, word: 0x20 } as const;
const TEST = { equals: 0x15, 'at-least': 0x35 } as const;
const RETURN = 0x06;
const INSTRUCTION = 8;

/** Offsets from here on load metadata that the kernel has about the frame, not bytes of it. */
const ANCILLARY = 0xfffff000;
export const PACKET_TYPE_AT = ANCILLARY + 4;

/** A comparison without a label continues with the next step. */
export function assemble(steps: readonly BpfStep[]): Buffer {
  const labels = new Map<string, number>();
  let length = 0;
  for (const step of steps) {
    if ('label' in step) labels.set(step.label, length);
    else length += 1;
  }
  const program = Buffer.alloc(length * INSTRUCTION);
  let at = 0;
  for (const step of steps) {
    if ('label' in step) continue;
    encode(step, program.subarray(at * INSTRUCTION), (label) => distance(labels, label, at));
    at += 1;
  }
  return program;
}

function encode(step: Exclude<BpfStep, { label: string }>, into: Buffer, jump: (label?: string) => number): void {
  if ('load' in step) {
    into.writeUInt16LE(LOAD[step.load], 0);
    into.writeUInt32LE(step.at, 4);
  } else if ('test' in step) {
    into.writeUInt16LE(TEST[step.test], 0);
    into.writeUInt8(jump(step.yes), 2);
    into.writeUInt8(jump(step.no), 3);
    into.writeUInt32LE(step.value, 4);
  } else {
    into.writeUInt16LE(RETURN, 0);
    into.writeUInt32LE(step.give === 'nothing' ? 0 : 0xffff, 4);
  }
}

function distance(labels: ReadonlyMap<string, number>, label: string | undefined, from: number): number {
  if (label === undefined) return 0;
  const to = labels.get(label);
  if (to === undefined) throw new Error(`no step is labelled ${label}`);
  return to - from - 1;
}
