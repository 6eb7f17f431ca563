export interface Regarded {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** Empty when it is not known. */
  readonly uid: string;
}

export interface ToldEvent {
  readonly regarding: Regarded;
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase, for programs. */
  readonly reason: string;
  /** For people. */
  readonly note: string;
}

/** Tells whoever looks at an object what happened to it. Never throws, never waits, and promises nothing. */
export interface Events {
  tell(event: ToldEvent): void;
}

export const NO_EVENTS: Events = { tell() {} };
