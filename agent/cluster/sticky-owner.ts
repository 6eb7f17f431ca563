import type { Controller } from '#pkg/pool/request.ts';

/** A pod that will come back under the same name: `<set>-<ordinal>` of a StatefulSet that Kubernetes itself runs. */
export function isStatefulSetPod(controller: Controller | null, podName: string): boolean {
  return (
    controller?.apiVersion === 'apps/v1' &&
    controller.kind === 'StatefulSet' &&
    podName.startsWith(`${controller.name}-`) &&
    /^\d{1,10}$/.test(podName.slice(controller.name.length + 1))
  );
}

export function isVirtualMachine(controller: Controller | null): controller is Controller {
  return controller?.kind === 'VirtualMachineInstance' && controller.apiVersion.startsWith('kubevirt.io/');
}
