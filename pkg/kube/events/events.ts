export interface Regarded {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** Empty if it is unknown. */
  readonly uid: string;
}

export interface EmittedEvent {
  readonly regarding: Regarded;
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase, for programs. */
  readonly reason: string;
  /** The sentence that people read. */
  readonly note: string;
  /** Events of an object that are equal in this are the same Event, whatever their notes say; without it the note decides. */
  readonly sameAs?: string;
}

/** Emits Kubernetes Events. Never throws, never waits; an Event may be lost. */
export interface Events {
  emit(event: EmittedEvent): void;
}

export const NO_EVENTS: Events = { emit() {} };
