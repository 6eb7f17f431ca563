import { customResource, type Kind } from './custom-resource.ts';

/** What all of Spiderpool's kinds have in common. */
export function spiderpoolKind(kind: Omit<Kind, 'group' | 'version' | 'categories'>): object {
  return customResource({ ...kind, group: 'spiderpool.spidernet.io', version: 'v2beta1', categories: ['spiderpool'] });
}
