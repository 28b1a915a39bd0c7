import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** What an authenticator does, so that many tests need no browser. One of them uses Chromium's. */
export interface Device {
  readonly credential: string
  readonly privateKey: KeyObject
  readonly publicKey: Buffer
  counter: number
}

interface Behaviour {
  readonly origin: string
  readonly host?: string
  /** What the device says of itself: present, verified, backup eligible and done. */
  readonly flags?: number
}

export interface Options {
  readonly challenge_id: string
  readonly public_key: {
    readonly challenge: string
    readonly allowCredentials?: readonly { readonly id: string }[]
  }
}

const present = 0x01
const verified = 0x04
const attested = 0x40
export const unverified = present

export function newDevice(): Device {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  // COSE: EC2, ES256, P-256, x, y.
  const key = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x!, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y!, 'base64url'),
  ])
  return { credential: randomBytes(32).toString('base64url'), privateKey, publicKey: key, counter: 0 }
}

const hashed = (data: string | Buffer) => createHash('sha256').update(data).digest()

function dataOf(device: Device, { origin, host, flags = present | verified }: Behaviour): Buffer {
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(device.counter)
  return Buffer.concat([hashed(host ?? new URL(origin).hostname), Buffer.from([flags]), counter])
}

function clientData(type: string, { public_key: { challenge } }: Options, { origin }: Behaviour): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}

/** The answer to options for a new key. */
export function created(device: Device, options: Options, behaviour: Behaviour): object {
  const flags = (behaviour.flags ?? present | verified) | attested
  const id = Buffer.from(device.credential, 'base64url')
  const data = Buffer.concat([
    dataOf(device, { ...behaviour, flags }),
    Buffer.alloc(16),
    Buffer.from([0, id.length]),
    id,
    device.publicKey,
  ])
  // CBOR: {fmt: 'none', attStmt: {}, authData: bytes}
  const attestation = Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
    Buffer.from([data.length]),
    data,
  ])
  return answer(device, {
    clientDataJSON: clientData('webauthn.create', options, behaviour).toString('base64url'),
    attestationObject: attestation.toString('base64url'),
    transports: ['internal', 'hybrid'],
  })
}

/** The answer to options for a key that the device has. */
export function used(device: Device, options: Options, behaviour: Behaviour): object {
  const data = dataOf(device, behaviour)
  const client = clientData('webauthn.get', options, behaviour)
  const signature = sign('sha256', Buffer.concat([data, hashed(client)]), device.privateKey)
  return answer(device, {
    clientDataJSON: client.toString('base64url'),
    authenticatorData: data.toString('base64url'),
    signature: signature.toString('base64url'),
  })
}

function answer({ credential: id }: Device, response: object): object {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response }
}
