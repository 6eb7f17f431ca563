interface PodOverrides {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** A pod as the API server returns it. Without overrides: a running `prod/web` on `worker-1`. */
export function buildPod(resourceVersion: number, overrides: PodOverrides = {}) {
  const { namespace = 'prod', name = 'web', uid = 'u1', metadata, spec, status } = overrides;
  return {
    metadata: { namespace, name, uid, resourceVersion: String(resourceVersion), ...metadata },
    spec: { nodeName: 'worker-1', restartPolicy: 'Always', ...spec },
    status: { phase: 'Running', ...status },
  };
}
