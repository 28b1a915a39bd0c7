import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Node assigns a pipelined response its socket only when its turn comes, and one still queued when the
 * connection dies never emits `close` (before Node 24). This makes it do so: listen with `once` to count
 * right.
 */
export function closingQueuedResponses(listener: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, Set<ServerResponse>>()
  return (request, response) => {
    // Only a queued response has no socket yet.
    if (response.socket === null) enqueue(queues, request.socket, response)
    listener(request, response)
  }
}

function enqueue(
  queues: WeakMap<Socket, Set<ServerResponse>>,
  socket: Socket,
  response: ServerResponse,
): void {
  const queue = queues.get(socket) ?? queueOf(socket)
  queues.set(socket, queue.add(response))
  response.once('close', () => queue.delete(response))
}

/** One listener per connection, however many requests it carries. */
function queueOf(socket: Socket): Set<ServerResponse> {
  const queue = new Set<ServerResponse>()
  socket.once('close', () => {
    // The response whose turn it is has a socket, and hears of its end from Node.
    for (const response of queue) if (response.socket === null) response.emit('close')
  })
  return queue
}
