import { Metadata, status } from '@grpc/grpc-js'

/** How a call ends that the server does not carry out. */
export interface Failure {
  readonly code: status
  readonly details: string
  readonly metadata: Metadata
}

function failure(code: status, details: string, fields: Readonly<Record<string, string>> = {}): Failure {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(fields)) metadata.set(name, value)
  return { code, details, metadata }
}

export const notReady = failure(status.UNAVAILABLE, 'Server Is Not Ready')

export function notLeader(port: number): Failure {
  return failure(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': '127.0.0.1',
    'leader-endpoint-port': String(port),
  })
}

export const accessDenied = failure(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' })
export const unauthenticated = failure(status.UNAUTHENTICATED, 'Received HTTP status code 401')

export function invalid(details: string): Failure {
  return failure(status.INVALID_ARGUMENT, details)
}

export const invalidPosition = failure(status.UNKNOWN, 'The read appears to be at an invalid position.')

export function streamDeleted(stream: string): Failure {
  const details = `Event stream '${stream}' is deleted.`
  return failure(status.FAILED_PRECONDITION, details, { exception: 'stream-deleted', 'stream-name': stream })
}

const tooSlow = 'Operation timed out: Consumer too slow to handle event'
export const cutOffLive = failure(status.ABORTED, `${tooSlow} while live. Client resubscription required.`)
export const cutOffInTransition = failure(
  status.ABORTED,
  `${tooSlow} while transitioning to live. Client resubscription required.`,
)
