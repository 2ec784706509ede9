import type { RecordBatch, Table } from 'apache-arrow'
import type { RecoveryReport } from '../../engine/storage/recovery/recovery-report.ts'
import { checkOptionNames } from '../../errors/check-option-names.ts'
import { WaymarkError } from '../../errors/errors.ts'
import type { GroupImportOptions, GroupInput, IngestInput, PersonInput, PropertyTypeInput } from '../../events/ingestion/decoding/inputs.ts'
import type { IngestAnswer } from '../../events/ingestion/intake.ts'
import type { LocalProject } from '../../project.ts'
import type { Query, SqlAnswerOf } from '../../queries/query-types.ts'
import { statementFrom } from '../../queries/sql/template.ts'
import type { Project } from '../../waymark.ts'
import { allCalls } from './calls.ts'
import { callAnywhere, type KnownProject, newAttempt } from './guest-calls.ts'
import type { Membership } from './membership.ts'
import { OwnerGone } from './owner-link.ts'

type Anything = (...args: readonly unknown[]) => Promise<never>
type Methods = Readonly<Record<string, Anything>>

/** One project of a directory that may be open in another process. */
export class ConnectedProject implements Project {
  readonly id: number
  private readonly membership: Membership
  private known: KnownProject
  readonly actions: Project['actions']
  readonly cohorts: Project['cohorts']

  constructor(membership: Membership, known: KnownProject) {
    this.membership = membership
    this.known = known
    this.id = known.id
    this.actions = this.service('actions') as unknown as Project['actions']
    this.cohorts = this.service('cohorts') as unknown as Project['cohorts']
  }

  get token(): string {
    return this.known.token
  }

  ingest(body: IngestInput, about: { readonly ip?: string | null; readonly userAgent?: string | null } = {}): Promise<IngestAnswer> {
    return this.call('take', [body, { ...about, attempt: newAttempt() }])
  }

  importPersons(rows: readonly PersonInput[]): Promise<{ ids: readonly string[] }> {
    return this.call('importPersons', [rows])
  }

  importGroups(rows: readonly GroupInput[], options: GroupImportOptions = {}): Promise<void> {
    return this.call('importGroups', [rows, options])
  }

  definePropertyTypes(rows: readonly PropertyTypeInput[]): Promise<void> {
    return this.call('definePropertyTypes', [rows])
  }

  createAction: Project['createAction'] = (fields) => this.call('createAction', [fields])
  createCohort: Project['createCohort'] = (fields) => this.call('createCohort', [fields])
  viewerToken: Project['viewerToken'] = (options) => this.call('viewerToken', [options])
  query = ((query: Query, options: object = {}) => this.call('query', [query, options])) as Project['query']

  async sql<Row extends readonly unknown[] = readonly unknown[]>(
    texts: TemplateStringsArray,
    ...values: readonly unknown[]
  ): Promise<SqlAnswerOf<Row>> {
    return this.query<Row>({ kind: 'SqlLikeQuery', ...statementFrom(texts, values) })
  }

  queryStatus: Project['queryStatus'] = (id) => this.call('queryStatus', [id])
  cancelQuery: Project['cancelQuery'] = (id) => this.call('cancelQuery', [id])

  async queryArrow(query: Query, options: { readonly signal?: AbortSignal } = {}): Promise<Table> {
    checkOptionNames(options, ['signal'], 'queryArrow')
    for (let tries = 1; ; tries++) {
      const role = await this.membership.current()
      if (role.is === 'owner') return (await role.waymark.project(this.id)).queryArrow(query, options)
      try {
        const batches: RecordBatch[] = []
        for await (const batch of await role.link.batches(this.id, query, options.signal)) batches.push(batch)
        const { Table } = await import('apache-arrow')
        return new Table(batches)
      } catch (error) {
        if (!(error instanceof OwnerGone)) throw error
        await role.link.mayAskAgain(error, tries)
      }
    }
  }

  async *queryArrowBatches(query: Query, options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<RecordBatch, void, undefined> {
    checkOptionNames(options, ['signal'], 'queryArrowBatches')
    let isBegun = false
    for (let tries = 1; ; tries++) {
      const role = await this.membership.current()
      if (role.is === 'owner') return yield* (await role.waymark.project(this.id)).queryArrowBatches(query, options)
      try {
        for await (const batch of await role.link.batches(this.id, query, options.signal)) {
          isBegun = true
          yield batch
        }
        return
      } catch (error) {
        if (!(error instanceof OwnerGone)) throw error
        if (isBegun) throw new WaymarkError('owner-ended', {}, { cause: error }) // rows that were given cannot be taken back
        await role.link.mayAskAgain(error, tries)
      }
    }
  }

  events: Project['events'] = () => this.call('events', [])
  properties: Project['properties'] = () => this.call('properties', [])
  warnings: Project['warnings'] = () => this.call('warnings', [])

  recoveryReports(): readonly RecoveryReport[] {
    return this.known.reports as readonly RecoveryReport[]
  }

  private call<T>(method: keyof typeof allCalls.project, args: readonly unknown[]): Promise<T> {
    return this.forward('project', method, args, (project) => project)
  }

  /** The calls of a service, each forwarded. */
  private service(of: 'actions' | 'cohorts'): Methods {
    const forwarded = Object.keys(allCalls[of]).map((method): [string, Anything] => [
      method,
      (...args) => this.forward(of, method, args, (project) => project[of]),
    ])
    return Object.fromEntries(forwarded)
  }

  private forward<T>(
    of: 'project' | 'actions' | 'cohorts',
    method: string,
    args: readonly unknown[],
    on: (project: LocalProject) => object,
  ): Promise<T> {
    return callAnywhere<T>(this.membership, {
      target: { of, project: this.id },
      method,
      args,
      here: async (waymark) => (on(await waymark.project(this.id)) as Methods)[method]!(...args),
      onToken: (token) => {
        this.known = { ...this.known, token }
      },
    })
  }
}
