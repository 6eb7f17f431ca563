type OmitAbsent<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Leaves out what is undefined, so that an absent field is absent in JSON and in comparisons alike. */
export function omitAbsent<T extends object>(fields: T): OmitAbsent<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as OmitAbsent<T>;
}
