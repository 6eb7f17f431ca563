import type { Holder } from '#pkg/record/ip-record.ts';

const LONG_ID = /^[0-9a-f]{32,}$/;
const SHORT_ID_LENGTH = 12;

/** `namespace/name` if there is one, else the ID of the container, shortened like the runtimes do. */
export function toHolderText(holder: Holder): string {
  const name = shortenId(holder.name === '' ? (holder.containerID ?? '') : holder.name);
  return holder.namespace === '' ? name : `${holder.namespace}/${name}`;
}

function shortenId(id: string): string {
  return LONG_ID.test(id) ? id.slice(0, SHORT_ID_LENGTH) : id;
}
