/** The moments between a request and its answer at which a crash is interesting; tests stop the process there. */
export type FailpointName =
  | 'add-received'
  | 'address-chosen'
  | 'record-created'
  | 'spool-consumed'
  | 'answer-ready'
  | 'del-received'
  | 'record-released'
  | 'spool-entry-applied';

export type Failpoint = (step: FailpointName) => void;
