import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** A signature is valid for one purpose, one domain and one id, and wrong for every other. */
type SignedPurpose = 'document' | 'report' | 'entry' | 'changes';

/** `current`, `previous`: the key that made the signature. `wrong`: neither. */
type SignedBy = 'current' | 'previous' | 'wrong';

type Parts = readonly Uint8Array[];

export type Signing = ReturnType<typeof createSigning>;

export interface SigningKeys {
  /** Signs and verifies. */
  readonly key: string;
  /** Verifies only: the key before this one, or the next key while it is being introduced. */
  readonly previousKey?: string;
  /** False: values without a signature are accepted. */
  readonly required: boolean;
}

export const SIGNATURE_BYTES = 16;

/** HMAC-SHA256 of the values of one domain in stores that others can write to. */
export function createSigning({ key, previousKey, required }: SigningKeys, domain: string) {
  const current = createSecretKey(key, 'utf8');
  const previous = previousKey === undefined ? undefined : createSecretKey(previousKey, 'utf8');
  const macOf = (secret: KeyObject, purpose: SignedPurpose, id: string, parts: Parts): Buffer => {
    // JSON keeps the fields apart, and the line end, which is in no JSON text, keeps them apart from the bytes.
    const mac = createHmac('sha256', secret).update(`${JSON.stringify(['serpcache-1', purpose, domain, id])}\n`);
    for (const part of parts) mac.update(part);
    return mac.digest().subarray(0, SIGNATURE_BYTES);
  };
  const matches = (secret: KeyObject, signature: Uint8Array, ...what: [SignedPurpose, string, Parts]) =>
    signature.length === SIGNATURE_BYTES && timingSafeEqual(macOf(secret, ...what), signature);
  return {
    /** False while keys are being introduced: a value without a signature is accepted. A wrong signature never is. */
    required,
    /** `SIGNATURE_BYTES` bytes, made with the current key. `id` separates the values of one purpose. */
    sign: (purpose: SignedPurpose, id: string, parts: Parts): Buffer => macOf(current, purpose, id, parts),
    /** Its duration does not depend on the position of the first wrong byte. */
    verify: (purpose: SignedPurpose, id: string, parts: Parts, signature: Uint8Array): SignedBy => {
      if (matches(current, signature, purpose, id, parts)) return 'current';
      return previous !== undefined && matches(previous, signature, purpose, id, parts) ? 'previous' : 'wrong';
    },
  };
}

/** Precedes signed bytes, with the signature in hexadecimal and a line end. No JSON text begins with it. */
const MARK = 's1.';
const SEALED_BYTES = MARK.length + SIGNATURE_BYTES * 2 + 1;

/** The bytes with their signature before them. Without keys the bytes are returned as they are. */
export function seal(signing: Signing | undefined, purpose: SignedPurpose, id: string, bytes: Buffer): Buffer {
  if (signing === undefined) return bytes;
  const signature = signing.sign(purpose, id, [bytes]).toString('hex');
  return Buffer.concat([Buffer.from(`${MARK}${signature}\n`), bytes]);
}

type Unsealed =
  /** `isWeak`: the current key has not signed it, so a process that may write it should write it again. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly isWeak: boolean }
  | { readonly kind: 'refused'; readonly detail: string };

/** Takes the signature off and verifies it. Without keys nothing is verified, and signed bytes are read too. */
export function unseal(signing: Signing | undefined, purpose: SignedPurpose, id: string, sealed: Buffer): Unsealed {
  const isSigned =
    sealed.length >= SEALED_BYTES &&
    sealed.toString('latin1', 0, MARK.length) === MARK &&
    sealed[SEALED_BYTES - 1] === 10;
  const bytes = isSigned ? sealed.subarray(SEALED_BYTES) : sealed;
  if (signing === undefined) return { kind: 'bytes', bytes, isWeak: false };
  if (!isSigned) {
    return signing.required ? { kind: 'refused', detail: 'it is not signed' } : { kind: 'bytes', bytes, isWeak: true };
  }
  const signature = Buffer.from(sealed.toString('latin1', MARK.length, SEALED_BYTES - 1), 'hex');
  const by = signing.verify(purpose, id, [bytes], signature);
  if (by === 'wrong') return { kind: 'refused', detail: 'its signature was made with no key that is configured here' };
  return { kind: 'bytes', bytes, isWeak: by === 'previous' };
}
