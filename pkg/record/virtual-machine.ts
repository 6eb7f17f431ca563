/** KubeVirt's own kind only: what a third party calls by the same name is an owner like any other. */
export function isVirtualMachine<T extends { readonly apiVersion: string; readonly kind: string }>(
  controller: T | null,
): controller is T {
  return controller?.kind === 'VirtualMachineInstance' && controller.apiVersion.startsWith('kubevirt.io/');
}
