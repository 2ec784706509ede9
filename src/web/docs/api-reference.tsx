import { useState } from 'preact/hooks'
import { WithCode } from '../data/with-code.tsx'
import { get } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { CopyButton, ErrorBox, Working } from '../ui/parts.tsx'

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}
interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> }
}
interface OpenApi {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
interface Call {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** The routes by resource, with the address of this server; nothing is sent from here. */
export function ApiReference({ search }: { search: string }) {
  const { value, error, reload } = useLoaded((signal) => get<OpenApi>('openapi.json', signal), [])
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading the description of the API" />
  const calls = Object.entries(value.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Call => ({ method: method.toUpperCase(), path, operation })),
  )
  const words = search.toLowerCase().split(' ').filter(Boolean)
  const fits = ({ method, path, operation }: Call) => {
    const text = `${method} ${path} ${operation.summary}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
  const groups = value.tags
    .map((tag) => ({ ...tag, calls: calls.filter((one) => one.operation.tags.includes(tag.name) && fits(one)) }))
    .filter((group) => group.calls.length > 0)
  return (
    <>
      {groups.length === 0 && <p class="note">No route fits.</p>}
      {groups.map((group) => (
        <section key={group.name} aria-label={group.name.replaceAll('_', ' ')}>
          <h2>{group.name.replaceAll('_', ' ')}</h2>
          <p class="note">
            <WithCode text={group.description.replace(/ \(\[[^\]]*\]\([^)]*\)\)/, '')} />
          </p>
          {group.calls.map((one) => (
            <CallOf key={`${one.method} ${one.path}`} call={one} />
          ))}
        </section>
      ))}
    </>
  )
}

const typeOf = ({ type, enum: values }: Schema): string => (values ? values.map(String).join(', ') : [type ?? 'any'].flat().join(' or '))

function CallOf({ call: { method, path, operation } }: { call: Call }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="api-call" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>{method}</code> <code>{path}</code>{' '}
        <span class="note">
          <WithCode text={operation.summary} />
        </span>
      </summary>
      {isOpen && <Details method={method} path={path} operation={operation} />}
    </details>
  )
}

function Details({ method, path, operation }: Call) {
  const { id } = useProject()
  const scopes = operation.security?.flatMap((one) => Object.values(one).flat()) ?? []
  const schema = operation.requestBody?.content['application/json']?.schema
  const fields = Object.entries(schema?.properties ?? {})
  const address = new URL(`.${path.replace('{project_id}', String(id))}`, document.baseURI).href
  const example = [
    `curl -X ${method} "${address}" \\`,
    `  -H "Authorization: Bearer YOUR_PERSONAL_KEY"${schema ? ' \\' : ''}`,
    ...(schema ? [`  -H 'Content-Type: application/json' \\`, `  -d '${JSON.stringify(exampleOf(schema))}'`] : []),
  ].join('\n')
  return (
    <div class="api-details">
      <p>{scopes.length > 0 ? `A key needs the scope ${scopes.join(' or ')}.` : 'A key needs no scope of its own.'}</p>
      <Names
        title="Parameters"
        names={(operation.parameters ?? []).map((one) => [
          one.name,
          one.in === 'path' ? 'part of the path' : one.in,
          one.description ?? '',
        ])}
      />
      <Names
        title="In the body"
        names={fields.map(([name, field]) => [
          `${name}${schema?.required?.includes(name) ? '' : '?'}`,
          typeOf(field),
          field.description ?? '',
        ])}
      />
      <pre tabIndex={0}>
        <code>{example}</code>
      </pre>
      <CopyButton text={example} />
    </div>
  )
}

const samples: Readonly<Record<string, unknown>> = { string: 'text', integer: 1, number: 1, boolean: true, array: [], object: {} }
/** The fields that are required. */
const exampleOf = ({ properties = {}, required = [] }: Schema): object =>
  Object.fromEntries(required.map((name) => [name, samples[[properties[name]?.type ?? 'object'].flat()[0] ?? 'object'] ?? {}]))

function Names({ title, names }: { title: string; names: readonly (readonly [name: string, type: string, about: string])[] }) {
  if (names.length === 0) return null
  return (
    <>
      <h3 class="apart">{title}</h3>
      <dl class="api-fields">
        {names.map(([name, type, about]) => (
          <div key={name}>
            <dt>
              <code>{name}</code> <span class="note">{type}</span>
            </dt>
            <dd>
              <WithCode text={about} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}
