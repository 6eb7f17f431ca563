import type { VersionRequest } from '#pkg/cni/request.ts';
import { SUPPORTED_VERSIONS } from '#pkg/cni/versions.ts';

export async function version(request: VersionRequest): Promise<object> {
  return { cniVersion: request.cniVersion, supportedVersions: SUPPORTED_VERSIONS };
}
