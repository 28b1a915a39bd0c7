import {
  resealAnswer,
  sealedAnswersIn,
  type SealedAnswer,
} from '../../../infra/postgres/idempotency/sealed-answers.ts'
import { contextOf } from '../../../infra/postgres/privacy/subject-keys.ts'
import { rewrapKey, wrappedKeysIn, type WrappedKey } from '../../../infra/postgres/privacy/wrapped-keys.ts'
import {
  resealLogKey,
  sealedLogKeys,
  seedContext,
  type SealedLogKey,
} from '../../../infra/postgres/transparency/log-keys.ts'
import { sealedWith } from '../../../infra/secrets/vault.ts'
import { indexKey, indexKeyContext, indexKeyId } from '../../../packages/domain/claims/index-key.ts'
import {
  tokenKeyContext,
  tokenKeys,
  tokenKeysId,
  type TokenKey,
} from '../../../packages/domain/sign-in/token-keys.ts'
import {
  secretContext,
  webhookEndpoint,
  type WebhookEndpoint,
} from '../../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { DocumentRow } from '../../../packages/kernel/ports/reads.ts'
import { answerContext } from '../../api/kinds/sealed-answers.ts'
import { indexKeyOwner } from '../../composition/blind-index.ts'
import type { Runtime } from '../../composition/dependencies.ts'

/** Something in use that contains sealed secrets. */
export interface Uses {
  readonly kind: 'endpoint' | 'answer' | 'personal key' | 'index key' | 'log key' | 'token key'
  /** Ids of the master keys that open its secrets. */
  readonly keys: ReadonlySet<string>
  /** Seals them with the current master key. */
  readonly reseal: () => Promise<void>
}

type Row = DocumentRow & { readonly state: WebhookEndpoint }

const rowsPerPage = 100

/**
 * Everything in use that a master key seals: endpoints' secrets, stored answers that show one, keys of
 * personal fields in events, and the keys that sign the log and users' tokens.
 */
export class Sealed {
  readonly #opened: Runtime

  constructor(runtime: Runtime) {
    this.#opened = runtime
  }

  async uses(): Promise<readonly Uses[]> {
    const answers = await sealedAnswersIn(this.#opened.postgres.pool)
    const keys = await wrappedKeysIn(this.#opened.postgres.pool)
    const logKeys = await sealedLogKeys(this.#opened.postgres.pool)
    return [
      ...(await this.#endpoints()),
      ...answers.map((answer) => this.#ofAnswer(answer)),
      ...keys.map((key) => this.#ofPersonalKey(key)),
      ...(await this.#indexKey()),
      ...(await this.#tokenKeys()),
      ...logKeys.map((key) => this.#ofLogKey(key)),
    ]
  }

  async #endpoints(): Promise<readonly Uses[]> {
    const found: Uses[] = []
    for (let after = 0; ;) {
      const { rows } = await this.#opened.dependencies.reads.page<Row>({
        from: 'webhook_endpoints',
        where: [{ column: 'created', operator: '>', value: after }],
        order: 'created',
        ascending: true,
        limit: rowsPerPage,
      })
      found.push(...rows.flatMap((row) => this.#ofEndpoint(row)))
      if (rows.length < rowsPerPage) return found
      after = rows.at(-1)!.created
    }
  }

  #ofEndpoint({ id, merchant, livemode, state }: Row): readonly Uses[] {
    if (state.status === 'none') return []
    const { executor, vault, newId } = this.#opened.dependencies
    const sealed = [state.secret, ...state.previous].map((secret) => secret.sealed)
    const reseal = async () => {
      const context = secretContext(id)
      const resealed = Object.fromEntries(
        sealed.map((one) => [one, vault.seal(vault.open(one, context), context)]),
      )
      const envelope = { merchant, livemode, actor: 'cli', correlation: newId(), mustExist: true }
      await executor.send(webhookEndpoint, id, { type: 'ResealSecrets', data: { resealed } }, envelope)
    }
    return [{ kind: 'endpoint', keys: new Set(sealed.map(sealedWith)), reseal }]
  }

  #ofPersonalKey(key: WrappedKey): Uses {
    const { vault } = this.#opened.dependencies
    const context = contextOf(key.subject)
    const reseal = () =>
      rewrapKey(this.#opened.postgres.pool, key, vault.seal(vault.open(key.wrapped, context), context))
    return { kind: 'personal key', keys: new Set([sealedWith(key.wrapped)]), reseal }
  }

  async #indexKey(): Promise<readonly Uses[]> {
    const { executor, store, vault, newId } = this.#opened.dependencies
    const { sealed: from } = await readState(store, indexKey, indexKeyId)
    if (from === null) return []
    const reseal = async () => {
      const sealed = vault.seal(vault.open(from, indexKeyContext), indexKeyContext)
      const envelope = { ...indexKeyOwner, actor: 'cli', correlation: newId() }
      await executor.send(indexKey, indexKeyId, { type: 'ResealIndexKey', data: { from, sealed } }, envelope)
    }
    return [{ kind: 'index key', keys: new Set([sealedWith(from)]), reseal }]
  }

  async #tokenKeys(): Promise<readonly Uses[]> {
    const { store } = this.#opened.dependencies
    const { keys } = await readState(store, tokenKeys, tokenKeysId)
    return keys.map((key) => ({
      kind: 'token key',
      keys: new Set([sealedWith(key.sealed)]),
      reseal: () => this.#resealTokenKey(key),
    }))
  }

  async #resealTokenKey({ id, sealed: from }: TokenKey): Promise<void> {
    const { executor, vault, newId } = this.#opened.dependencies
    const context = tokenKeyContext(id)
    const data = { id, from, sealed: vault.seal(vault.open(from, context), context) }
    const envelope = { platform: true as const, actor: 'cli', correlation: newId() }
    await executor.send(tokenKeys, tokenKeysId, { type: 'ResealTokenKey', data }, envelope)
  }

  #ofLogKey(key: SealedLogKey): Uses {
    const { vault } = this.#opened.dependencies
    const context = seedContext(key.origin)
    const reseal = () =>
      resealLogKey(this.#opened.postgres.pool, key, vault.seal(vault.open(key.sealedSeed, context), context))
    return { kind: 'log key', keys: new Set([sealedWith(key.sealedSeed)]), reseal }
  }

  #ofAnswer(answer: SealedAnswer): Uses {
    const { vault } = this.#opened.dependencies
    const context = answerContext(answer)
    const reseal = () =>
      resealAnswer(
        this.#opened.postgres.pool,
        answer,
        vault.seal(vault.open(answer.sealed, context), context),
      )
    return { kind: 'answer', keys: new Set([sealedWith(answer.sealed)]), reseal }
  }
}
