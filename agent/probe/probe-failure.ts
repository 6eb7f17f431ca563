/** The probe could not be carried out, so it says nothing about the address. */
export class ProbeFailure extends Error {
  override readonly name = 'ProbeFailure';
}
