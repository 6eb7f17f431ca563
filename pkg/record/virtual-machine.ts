import type { Controller } from '#pkg/pool/request.ts';

export function isVirtualMachine(controller: Controller | null): controller is Controller {
  return controller?.kind === 'VirtualMachineInstance' && controller.apiVersion.startsWith('kubevirt.io/');
}
