import { customResource, type Kind } from './custom-resource.ts';

/** The fields that all of Spiderpool's kinds share. */
export function spiderpoolKind(kind: Omit<Kind, 'group' | 'version' | 'categories'>): object {
  return customResource({ ...kind, group: 'spiderpool.spidernet.io', version: 'v2beta1', categories: ['spiderpool'] });
}
