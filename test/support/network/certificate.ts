import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface TestCertificate {
  readonly certificateFile: string
  /** The private key, followed by the certificate. */
  readonly keyStoreFile: string
}

/** A self-signed certificate, trusted only by those who are told to. */
export function testCertificate(directory: string): TestCertificate {
  const keyFile = join(directory, 'key.pem')
  const certificateFile = join(directory, 'certificate.pem')
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
      ...[
        '-addext',
        'subjectAltName=IP:127.0.0.1,DNS:localhost',
        '-keyout',
        keyFile,
        '-out',
        certificateFile,
      ],
    ],
    { stdio: 'ignore' },
  )
  const keyStoreFile = join(directory, 'key-store.pem')
  writeFileSync(keyStoreFile, readFileSync(keyFile, 'utf8') + readFileSync(certificateFile, 'utf8'))
  return { certificateFile, keyStoreFile }
}
