/** One interface of one container: what DEL names, and what calls for it queue on. */
export interface Attachment {
  readonly containerID: string;
  readonly ifName: string;
}

export function attachmentKey({ containerID, ifName }: Attachment): string {
  return `attachment ${containerID} ${ifName}`;
}
