/** A pool file as an operator writes it. */
export function poolYaml(
  name: string,
  spec: { subnet: string; ips: readonly string[]; gateway?: string; cooldown?: string; isDefault?: boolean },
): string {
  const lines = [
    'apiVersion: spiderpool.spidernet.io/v2beta1',
    'kind: SpiderIPPool',
    'metadata:',
    `  name: ${name}`,
    ...(spec.cooldown === undefined ? [] : ['  annotations:', `    ipledger.io/reuse-cooldown: ${spec.cooldown}`]),
    'spec:',
    `  subnet: ${spec.subnet}`,
    '  ips:',
    ...spec.ips.map((range) => `    - ${range}`),
    ...(spec.gateway === undefined ? [] : [`  gateway: ${spec.gateway}`]),
    `  default: ${spec.isDefault ?? true}`,
  ];
  return `${lines.join('\n')}\n`;
}
