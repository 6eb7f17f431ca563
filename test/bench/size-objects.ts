import { planEndpoint } from '#controller/project/plan-endpoint.ts';
import { toNewObject } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { buildRecord } from '#test/support/build-record.ts';

const PER_POOL = 5_000;
const PER_NODE = 100;
const NAMESPACES = 200;
const PER_SET = 20;
const PER_DEPLOYMENT = 10;
const ONE_ASKS_OF = 250;
const CREATED = '2026-11-16T10:00:00Z';
const RULES = { enableStatefulSet: true, enableCleanOutdatedEndpoint: false };

/** As long as those that kubelet and agents leave behind. */
const managed = (manager: string, fields: number) => [
  {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: CREATED,
    fieldsType: 'FieldsV1',
    fieldsV1: Object.fromEntries(
      Array.from({ length: fields }, (_, at) => [`f:field-number-${at}`, { 'f:value': {} }]),
    ),
  },
];

/** One pod of a Deployment with its record and its endpoint, for each number. Numbers decide everything, so nothing is stored. */
export class SizedObjects {
  readonly count: number;

  constructor(count: number) {
    this.count = count;
  }

  get pools(): number {
    return Math.ceil(this.count / PER_POOL);
  }

  get nodes(): number {
    return Math.ceil(this.count / PER_NODE);
  }

  pool(at: number): object {
    const [first, last] = [toAddress(at * PER_POOL), toAddress((at + 1) * PER_POOL - 1)];
    return {
      metadata: { ...meta('pools', at), name: `pool-${at}`, generation: 1 },
      spec: { ipVersion: 4, subnet: '10.0.0.0/8', ips: [`${first}-${last}`] },
    };
  }

  node(at: number): object {
    const conditions = [{ type: 'Ready', status: 'True' }];
    return { metadata: { ...meta('nodes', at), name: nodeName(at) }, spec: {}, status: { conditions } };
  }

  lease(at: number): object {
    const spec = { holderIdentity: nodeName(at), renewTime: '2026-11-16T10:00:00.000000Z' };
    return { metadata: { ...meta('leases', at), name: nodeName(at), namespace: 'kube-node-lease' }, spec };
  }

  /** About 6 kB, as an ordinary web server has. `version`: raised by events. */
  pod(at: number, version = 0): object {
    const { namespace, name } = nameOf(at);
    const set = `web-frontend-${Math.floor(at / PER_SET)}-7d9f8b6c5d`;
    const metadata = {
      ...meta('pods', at),
      ...(version === 0 ? {} : { resourceVersion: String(version) }),
      namespace,
      name,
      generateName: `${set}-`,
      labels: { app: 'web-frontend', 'pod-template-hash': '7d9f8b6c5d', team: namespace },
      annotations: { 'ipam.spidernet.io/ippool': `{"ipv4":["pool-${poolOf(at)}"]}`, checksum: 'x'.repeat(64) },
      ownerReferences: [owner(at, set)],
      managedFields: [...managed('kube-controller-manager', 25), ...managed('kubelet', 25)],
    };
    const ip = toAddress(at);
    return {
      metadata,
      spec: { ...POD_SPEC, nodeName: nodeName(nodeOf(at)) },
      status: { ...POD_STATUS, podIP: ip, podIPs: [{ ip }] },
    };
  }

  /** One of 250 asks for a subnet. */
  deployment(at: number): object {
    const { namespace } = nameOf(at * PER_SET);
    const metadata = { ...meta('deployments', at), namespace, name: `web-frontend-${at}`, generation: 3 };
    const replicas = 3;
    return {
      metadata: { ...metadata, managedFields: [...managed('kubectl', 25), ...managed('kube-controller-manager', 15)] },
      spec: { replicas, selector: { matchLabels: { app: 'web-frontend' } }, template: templateOf(at) },
      status: { replicas, readyReplicas: replicas, availableReplicas: replicas, observedGeneration: 3 },
    };
  }

  /** Ten of each Deployment, as a history of ten leaves them. */
  replicaSet(at: number): object {
    const of = Math.floor(at / PER_DEPLOYMENT);
    const { namespace } = nameOf(of * PER_SET);
    const name = `web-frontend-${of}-${(7_000_000 + at).toString(36)}`;
    const uid = uidOf('deployments', of);
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: `web-frontend-${of}`, uid, controller: true };
    const metadata = { ...meta('replicasets', at), namespace, name, ownerReferences: [owner] };
    const labels = { 'pod-template-hash': (7_000_000 + at).toString(36) };
    return {
      metadata: { ...metadata, labels, managedFields: managed('kube-controller-manager', 30) },
      spec: { replicas: 0, selector: { matchLabels: labels }, template: templateOf(of) },
      status: { replicas: 0 },
    };
  }

  record(at: number): object {
    const { metadata, ...rest } = toNewObject(specOf(at));
    return { metadata: { ...meta('records', at), ...metadata, managedFields: managed('ipledger-agent', 25) }, ...rest };
  }

  endpoint(at: number): object {
    const { namespace, name } = nameOf(at);
    const records = [buildRecord({ ...specOf(at), createdAt: CREATED })];
    const uid = uidOf('pods', at);
    const [step] = planEndpoint({ namespace, name, records, pod: { uid, runtimeUid: uid }, existing: null }, RULES);
    if (step?.do !== 'create') throw new Error('an endpoint that is not created');
    const { metadata, ...rest } = step.object;
    return {
      metadata: { ...meta('endpoints', at), ...metadata, managedFields: managed('ipledger-controller', 20) },
      ...rest,
    };
  }
}

function specOf(at: number): RecordSpec {
  const uid = uidOf('pods', at);
  const holder = {
    ...nameOf(at),
    kind: 'Pod',
    uid,
    interface: 'eth0',
    network: 'macvlan-conf',
    containerID: uid.replaceAll('-', '').padEnd(64, '0'),
    netns: `/var/run/netns/cni-${uid}`,
    attachGeneration: 1,
    node: nodeName(nodeOf(at)),
    owner: { apiVersion: 'apps/v1', kind: 'Deployment', name: `web-frontend-${Math.floor(at / PER_SET)}` },
  } as const;
  const pool = { kind: 'SpiderIPPool', name: `pool-${poolOf(at)}`, uid: uidOf('pools', poolOf(at)) } as const;
  return { ...buildRecord({ address: toAddress(at), prefix: 8, holder }).spec, pool };
}

function templateOf(deployment: number): object {
  const asks = { 'ipam.spidernet.io/subnet': '{"ipv4":["office"]}' };
  const annotations = deployment % ONE_ASKS_OF === 0 ? asks : {};
  return { metadata: { labels: { app: 'web-frontend' }, annotations }, spec: POD_SPEC };
}

const poolOf = (at: number) => Math.floor(at / PER_POOL);
const nodeOf = (at: number) => Math.floor(at / PER_NODE);
const nodeName = (at: number) => `worker-${String(at).padStart(5, '0')}`;
const toAddress = (at: number) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;

function nameOf(at: number): { readonly namespace: string; readonly name: string } {
  const set = Math.floor(at / PER_SET);
  const suffix = at.toString(36).padStart(5, '0');
  return { namespace: `team-${set % NAMESPACES}`, name: `web-frontend-${set}-7d9f8b6c5d-${suffix}` };
}

function uidOf(kind: string, at: number): string {
  const text = `${Buffer.from(kind).toString('hex').slice(0, 8)}${at.toString(16).padStart(24, '0')}`;
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function meta(kind: string, at: number): object {
  return { uid: uidOf(kind, at), resourceVersion: String(1_000 + at), creationTimestamp: CREATED };
}

function owner(at: number, name: string): object {
  const uid = uidOf('sets', Math.floor(at / PER_SET));
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid, controller: true, blockOwnerDeletion: true };
}

const CONTAINER = {
  name: 'main',
  image: 'registry.example/team/web-frontend:1.42.7',
  ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
  env: Array.from({ length: 12 }, (_, at) => ({ name: `SETTING_${at}`, value: 'a value as applications have it' })),
  resources: { limits: { memory: '512Mi' }, requests: { cpu: '100m', memory: '256Mi' } },
  volumeMounts: [
    { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
  ],
  livenessProbe: { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, failureThreshold: 3 },
  readinessProbe: { httpGet: { path: '/ready', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, failureThreshold: 3 },
};
const POD_SPEC = {
  containers: [CONTAINER],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  schedulerName: 'default-scheduler',
  tolerations: ['not-ready', 'unreachable'].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  })),
  volumes: [{ name: 'kube-api-access', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
};
const POD_STATUS = {
  phase: 'Running',
  conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: CREATED,
  })),
  hostIP: '192.0.2.7',
  startTime: CREATED,
  containerStatuses: [
    {
      name: 'main',
      image: CONTAINER.image,
      imageID: `sha256:${'0'.repeat(64)}`,
      containerID: `containerd://${'0'.repeat(64)}`,
      ready: true,
      restartCount: 0,
      started: true,
      state: { running: { startedAt: CREATED } },
    },
  ],
  qosClass: 'Burstable',
};
