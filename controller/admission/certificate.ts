import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { parseAddress } from '#pkg/ip/address.ts';
import {
  bitString,
  boolean,
  derInteger,
  explicit,
  implicit,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from './der.ts';

/** A certificate and its key in PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface Validity {
  readonly from: Date;
  readonly to: Date;
}

const OID = {
  commonName: '2.5.4.3',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
};
const V3 = derInteger(Uint8Array.of(2));
const SIGNS_CERTIFICATES = bitString(Uint8Array.of(0x04), 2);
const SIGNS_HANDSHAKES = bitString(Uint8Array.of(0x80), 7);
const SIGNATURE = sequence(objectIdentifier(OID.ecdsaWithSha256));

/** A root on P-256 that signs serving certificates and nothing below them. */
export function createCa(name: string, validity: Validity): Identity {
  const { publicKey, privateKey } = newKeys();
  const keyId = keyIdOf(publicKey);
  const extensions = [
    extension(OID.basicConstraints, sequence(boolean(true), derInteger(Uint8Array.of(0))), 'critical'),
    extension(OID.keyUsage, SIGNS_CERTIFICATES, 'critical'),
    extension(OID.subjectKeyId, octetString(keyId)),
  ];
  const cert = certificate({ subject: name, publicKey, issuer: name, signer: privateKey, validity, extensions });
  return { cert, key: toPem(privateKey) };
}

/** `names` are DNS names and IP addresses. */
export function issueServing(
  ca: { readonly name: string; readonly key: KeyObject },
  names: readonly string[],
  validity: Validity,
): Identity {
  const { publicKey, privateKey } = newKeys();
  const extensions = [
    extension(OID.basicConstraints, sequence(), 'critical'),
    extension(OID.keyUsage, SIGNS_HANDSHAKES, 'critical'),
    extension(OID.extendedKeyUsage, sequence(objectIdentifier(OID.serverAuth))),
    extension(OID.subjectKeyId, octetString(keyIdOf(publicKey))),
    extension(OID.authorityKeyId, sequence(implicit(0, keyIdOf(createPublicKey(ca.key))))),
    extension(OID.subjectAltName, sequence(...names.map(toGeneralName))),
  ];
  const subject = 'ipledger-controller';
  const cert = certificate({ subject, publicKey, issuer: ca.name, signer: ca.key, validity, extensions });
  return { cert, key: toPem(privateKey) };
}

interface Parts {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly issuer: string;
  readonly signer: KeyObject;
  readonly validity: Validity;
  readonly extensions: readonly Uint8Array[];
}

function certificate({ subject, publicKey, issuer, signer, validity, extensions }: Parts): string {
  const body = sequence(
    explicit(0, V3),
    derInteger(randomBytes(16)),
    SIGNATURE,
    distinguishedName(issuer),
    sequence(time(validity.from), time(validity.to)),
    distinguishedName(subject),
    spkiOf(publicKey),
    explicit(3, sequence(...extensions)),
  );
  const whole = sequence(body, SIGNATURE, bitString(sign('sha256', body, signer)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function newKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function spkiOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

/** Any name for the key will do (RFC 5280, 4.2.1.2); it distinguishes two roots of one name. */
function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash('sha256').update(spkiOf(publicKey)).digest().subarray(0, 20);
}

function toPem(privateKey: KeyObject): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function distinguishedName(commonName: string): Buffer {
  return sequence(set(sequence(objectIdentifier(OID.commonName), utf8String(commonName))));
}

function extension(id: string, value: Uint8Array, critical?: 'critical'): Buffer {
  const flag = critical === undefined ? [] : [boolean(true)];
  return sequence(objectIdentifier(id), ...flag, octetString(value));
}

function toGeneralName(name: string): Buffer {
  const isAddress = isIPv4(name) || name.includes(':');
  return isAddress ? implicit(7, toAddressBytes(name)) : implicit(2, Buffer.from(name, 'ascii'));
}

function toAddressBytes(text: string): Buffer {
  const { family, value } = parseAddress(text);
  return Buffer.from(value.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex');
}
