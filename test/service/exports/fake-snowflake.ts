import { createHash, createPublicKey, createVerify, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

// A server that answers as the documentation of Snowflake's SQL API shows: it executes the statements that exports send, once for each request id, and refuses
// every other one.

interface Table {
  columns: [name: string, type: string][]
  rows: Record<string, unknown>[]
}
interface Body {
  readonly statement: string
  readonly bindings?: Readonly<Record<string, { readonly type: string; readonly value: string }>>
  readonly parameters?: { readonly MULTI_STATEMENT_COUNT?: string }
  readonly database: string
  readonly warehouse: string
}
interface Answer {
  readonly status: number
  readonly body: object
}

export interface FakeSnowflake {
  readonly origin: string
  readonly privateKey: string
  readonly encryptedKey: string
  readonly tables: Map<string, Table>
  readonly statements: string[]
  /** `drop`: the statement is executed, and the connection closed before the answer. */
  fail(match: RegExp, answer: Answer | 'drop', times?: number): void
  close(): Promise<void>
}

const refusal = (code: string, message: string): Answer => ({
  status: 422,
  body: { code, message, sqlState: '42000', statementHandle: 'h' },
})
const shownTypes: Readonly<Record<string, string>> = { VARCHAR: 'TEXT' }
const typed = (definitions: string): [string, string][] =>
  [...definitions.matchAll(/"([^"]+)" (\w+)/g)].map(([, name, type]) => [name!, shownTypes[type!] ?? type!])

const cast = (value: unknown, type: string): unknown => {
  if (value === null || value === undefined) return null
  if (type === 'NUMBER' && !/^-?\d+$/.test(String(value))) throw refusal('100038', `Numeric value '${value}' is not recognized`)
  return value
}

export async function startSnowflake(): Promise<FakeSnowflake> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const tables = new Map<string, Table>()
  const statements: string[] = []
  const answers = new Map<string, Answer>()
  const running = new Map<string, { polls: number; answer: Answer }>()
  const faults: { match: RegExp; answer: Answer | 'drop'; times: number }[] = []

  const isAllowed = (authorization: string, type: string, key: KeyObject) => {
    const token = authorization.replace('Bearer ', '')
    if (type === 'PROGRAMMATIC_ACCESS_TOKEN') return token === 'pat-1'
    if (type !== 'KEYPAIR_JWT') return false
    const [head, claims, signature] = token.split('.')
    const { iss, sub, exp, iat } = JSON.parse(Buffer.from(claims!, 'base64url').toString())
    const print = createHash('sha256')
      .update(createPublicKey(privateKey.export({ type: 'pkcs8', format: 'pem' })).export({ type: 'spki', format: 'der' }))
      .digest('base64')
    const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(key, Buffer.from(signature!, 'base64url'))
    return isSigned && sub === 'ACME-SHOP.EXPORTER' && iss === `${sub}.SHA256:${print}` && exp - iat === 3600
  }

  const execute = (sql: string, bindings: Body['bindings']): Answer => {
    statements.push(sql)
    const names = [...sql.matchAll(/"SHOP"\."PUBLIC"\."([^"]+)"/g)].map(([, name]) => name!)
    const [first, second] = names
    const table = tables.get(first ?? '')
    const ok = (data: unknown[][] = [['1']]): Answer => ({
      status: 200,
      body: { code: '090001', message: 'Statement executed successfully.', data },
    })
    const missing = () => refusal('002003', `SQL compilation error: Table '${first}' does not exist or not authorized.`)
    if (sql === 'SELECT 1') return ok()
    if (/information_schema\.schemata WHERE schema_name = \?$/.test(sql)) return ok(bindings!['1']!.value === 'PUBLIC' ? [['1']] : [])
    if (/^SELECT column_name, data_type FROM "SHOP"\.information_schema\.columns/.test(sql))
      return ok(tables.get(bindings!['2']!.value)?.columns ?? [])
    const created = /^CREATE (TRANSIENT )?TABLE (IF NOT EXISTS )?\S+ \((.*)\)$/.exec(sql)
    if (created) {
      if (!table) tables.set(first!, { columns: typed(created[3]!), rows: [] })
      return ok()
    }
    if (/^CREATE OR REPLACE TRANSIENT TABLE \S+ LIKE \S+$/.test(sql)) {
      tables.set(first!, { columns: [...tables.get(second!)!.columns], rows: [] })
      return ok()
    }
    if (/^DROP TABLE (IF EXISTS )?\S+$/.test(sql)) return tables.delete(first!) || sql.includes('IF EXISTS') ? ok() : missing()
    if (!table) return missing()
    const altered = /^ALTER TABLE \S+ ADD COLUMN (.*)$/.exec(sql)
    if (altered) {
      table.columns.push(...typed(altered[1]!))
      return ok()
    }
    const inserted = /^INSERT INTO \S+ \((.*)\) SELECT (.*) FROM TABLE\(FLATTEN\(INPUT => PARSE_JSON\(\?\)\)\)$/.exec(sql)
    if (inserted) {
      const columns = inserted[1]!.split(', ').map((name) => name.slice(1, -1))
      for (const row of JSON.parse(bindings!['1']!.value) as Record<string, unknown>[])
        table.rows.push(
          Object.fromEntries(
            columns.map((name) => {
              const type = new RegExp(`value:"${name}"::(\\w+)`).exec(sql)?.[1] ?? 'VARIANT'
              const value = cast(row[name], type)
              return [name, sql.includes(`TO_JSON(value:"${name}")`) && value !== null ? JSON.stringify(value) : value]
            }),
          ),
        )
      return ok()
    }
    if (sql.startsWith('MERGE INTO')) {
      const key = /ON old\."(\w+)" = new\."\w+" WHEN/.exec(sql)![1]!
      table.rows = [...new Map([...table.rows, ...tables.get(second!)!.rows].map((row) => [row[key], row])).values()]
      return ok()
    }
    if (/^INSERT INTO \S+ \(.*\) SELECT .* FROM \S+ WHERE NOT EXISTS/.test(sql)) {
      const key = /"key" = '([^']+)'/.exec(sql)![1]
      if (!tables.get(names[2]!)!.rows.some((row) => row.key === key)) table.rows.push(...tables.get(second!)!.rows)
      return ok()
    }
    const recorded = /^INSERT INTO \S+ SELECT '(\w+)', '([\w-]+)' WHERE NOT EXISTS/.exec(sql)
    if (recorded) {
      if (!table.rows.some((row) => row.key === recorded[2])) table.rows.push({ table: recorded[1], key: recorded[2] })
      return ok()
    }
    return refusal('001003', `SQL compilation error: unexpected statement: ${sql}`)
  }

  const submit = ({ statement, bindings, parameters, warehouse }: Body): Answer => {
    if (warehouse !== 'LOADING') return refusal('000606', 'No active warehouse selected in the current session.')
    const count = Number(parameters?.MULTI_STATEMENT_COUNT ?? 1)
    const all = count === 1 ? [statement] : statement.split(';\n')
    if (all.length !== count || (count > 1 && (bindings || all[0] !== 'BEGIN' || all.at(-1) !== 'COMMIT')))
      return refusal('000008', 'Actual statement count did not match')
    let answer: Answer = refusal('0', '')
    for (const one of all) {
      if (one === 'BEGIN' || one === 'COMMIT') continue
      answer = execute(one, bindings)
      if (answer.status !== 200) break
    }
    return answer
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, 'http://x')
    const body = request.method === 'POST' ? ((await json(request)) as Body) : null
    const send = ({ status, body: said }: Answer) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(said))
    }
    if (!isAllowed(String(request.headers.authorization), String(request.headers['x-snowflake-authorization-token-type']), publicKey))
      return send({ status: 401, body: { code: '390144', message: 'JWT token is invalid.' } })
    if (request.method === 'GET') {
      const held = running.get(url.pathname.split('/').at(-1)!)!
      return send(held.polls++ === 0 ? { status: 202, body: { code: '333333', statementHandle: 'h' } } : held.answer)
    }
    if (url.pathname !== '/api/v2/statements' || !body) return send({ status: 404, body: { message: 'Unknown path' } })
    const id = url.searchParams.get('requestId')!
    const fault = faults.find(({ match, times }) => times > 0 && match.test(body.statement))
    if (fault) fault.times--
    if (fault && fault.answer !== 'drop') return send(fault.answer)
    const answer =
      answers.get(id) ??
      (() => {
        try {
          return submit(body)
        } catch (error) {
          return error as Answer
        }
      })()
    answers.set(id, answer)
    if (fault) return void request.socket.destroy()
    if (!body.statement.startsWith('MERGE')) return send(answer)
    running.set(id, { polls: 0, answer })
    send({
      status: 202,
      body: {
        code: '333334',
        message: 'Asynchronous execution in progress.',
        statementHandle: id,
        statementStatusUrl: `/api/v2/statements/${id}`,
      },
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    encryptedKey: privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open sesame' }).toString(),
    tables,
    statements,
    fail: (match, answer, times = 1) => void faults.push({ match, answer, times }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
