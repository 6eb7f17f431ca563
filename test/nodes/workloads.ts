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
