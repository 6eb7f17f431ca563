import { JsonFields } from '#pkg/cni/json-fields.ts';
import { decodeCallExtras } from './call-extras.ts';
import { decodeInterface, decodeNetns, decodeWireHolder } from './decode-holder.ts';
import type { CheckArgs } from './wire.ts';

const MAX_IPS = 256;
const MAX_ADDRESS = 64;

export function decodeCheckArgs(body: unknown): CheckArgs {
  const fields = JsonFields.of(body, 'the body of CHECK', 'bad-input');
  return {
    ...decodeWireHolder(fields),
    ifName: decodeInterface(fields, 'ifName'),
    ...decodeNetns(fields),
    ips: fields.objects('ips', MAX_IPS).map((ip) => {
      const address = ip.text('address', MAX_ADDRESS);
      const gateway = ip.optionalText('gateway', MAX_ADDRESS) ?? '';
      return gateway === '' ? { address } : { address, gateway };
    }),
    ...decodeCallExtras(fields),
  };
}
