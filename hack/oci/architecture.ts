/** What differs between the processors that the image is made for. */
export const ARCHITECTURES = {
  amd64: { npm: 'x64', libraries: 'x86_64-linux-gnu', loader: 'lib64/ld-linux-x86-64.so.2' },
  arm64: { npm: 'arm64', libraries: 'aarch64-linux-gnu', loader: 'lib/ld-linux-aarch64.so.1' },
} as const;

export type Architecture = keyof typeof ARCHITECTURES;

export const isArchitecture = (name: string): name is Architecture => Object.hasOwn(ARCHITECTURES, name);

/** The one of this machine, where hack/build leaves the plugin in another place. */
export const OWN_ARCHITECTURE: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
