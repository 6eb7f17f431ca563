import { NAMESPACE_ANNOTATIONS } from './annotation-keys.ts';
import { AnnotationReader } from './annotation-reader.ts';
import type { Labels } from './request.ts';

/** A list of names of one family, and where it was written. */
export interface NameList {
  readonly from: string;
  readonly names: readonly string[];
  /** What a list that cannot be used is: whoever wrote it is told. */
  readonly fault: 'bad-annotation' | 'bad-config';
}

export interface NamespacePools {
  readonly v4: NameList;
  readonly v6: NameList;
  readonly warnings: readonly string[];
}

export function parseNamespacePools(annotations: Labels): NamespacePools {
  const warnings: string[] = [];
  const v4 = readNameList(annotations, NAMESPACE_ANNOTATIONS.v4, warnings);
  const v6 = readNameList(annotations, NAMESPACE_ANNOTATIONS.v6, warnings);
  return { v4, v6, warnings };
}

function readNameList(annotations: Labels, [key, olderKey]: readonly [string, string], warnings: string[]): NameList {
  const text = annotations[key];
  const olderText = annotations[olderKey];
  if (text !== undefined && olderText !== undefined) {
    warnings.push(`annotation ${olderKey} is ignored: ${key} is there too`);
  }
  const usedKey = text === undefined ? olderKey : key;
  const usedText = text ?? olderText;
  const reader = new AnnotationReader(usedKey);
  const names = usedText === undefined ? [] : reader.names(reader.json(usedText), 'the value');
  return { from: `namespace annotation ${usedText === undefined ? key : usedKey}`, names, fault: 'bad-annotation' };
}
