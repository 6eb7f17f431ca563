import { SANDBOX_IMAGE } from '#test/real-cluster/containerd-config.ts';

const CONTAINER = { name: 'main', image: SANDBOX_IMAGE, imagePullPolicy: 'Never' };

interface PodTemplate {
  readonly annotations?: object;
  readonly labels?: object;
  readonly spec?: object;
}

const template = (app: string, { annotations = {}, labels = {}, spec = {} }: PodTemplate) => ({
  metadata: { labels: { app, ...labels }, annotations },
  spec: { containers: [CONTAINER], ...spec },
});

export const pod = (name: string, wish: PodTemplate = {}) => {
  const { metadata, spec } = template(name, wish);
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name }, spec };
};

export const deployment = (name: string, replicas: number, wish: PodTemplate & { strategy?: object } = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    ...(wish.strategy === undefined ? {} : { strategy: wish.strategy }),
    template: template(name, wish),
  },
});

export const statefulSet = (name: string, replicas: number, wish: PodTemplate = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: {
    replicas,
    serviceName: name,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: { app: name } },
    template: template(name, wish),
  },
});

/** Each pod ends after a second. */
export const job = (name: string, completions: number, parallelism: number) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: {
    completions,
    parallelism,
    template: { metadata: {}, spec: { containers: [{ ...CONTAINER, args: ['1'] }], restartPolicy: 'Never' } },
  },
});
