import type { ComponentChildren } from 'preact'
import type { BackupStateAnswer } from '../../doors/answers/backups.ts'
import { ApiError, get } from '../lib/api.ts'
import { agoText, momentText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { CodeBlock } from '../live/code-block.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import { restoreCommands, setUpCommands } from './backup-commands.ts'
import { useOrganization } from './organization-of.ts'

type Backups = NonNullable<BackupStateAnswer['backups']>

/** What the server's own backups can bring back. They have everything of the server, so only administrators see them. */
export function BackupsSection() {
  const { isAdmin } = useOrganization()
  return isAdmin ? (
    <State />
  ) : (
    <section class="block">
      <h2>Backups</h2>
      <p class="note">Only administrators can see the backups of this server.</p>
    </section>
  )
}

function State() {
  const { api } = useOrganization()
  const { value, error, reload } = useLoaded((signal) => get<BackupStateAnswer>(api('backups/'), signal), [])
  const isHosted = error instanceof ApiError && error.status === 404
  return (
    <>
      <section class="block">
        <h2>Backups</h2>
        {isHosted ? (
          <p class="note">The operator of this server makes its backups.</p>
        ) : error ? (
          <ErrorBox error={error} retry={reload} />
        ) : !value ? (
          <Working what="Reading the state of the backups" />
        ) : value.backups ? (
          <Made of={value.backups} reload={reload} />
        ) : (
          <>
            <p>
              <span class="state warn">None</span> This server makes no backups by itself. A disk that fails takes everything with it.
            </p>
            <p class="note">
              They are set up where the server is started. Copies that somebody makes with the command are not listed here.
            </p>
          </>
        )}
      </section>
      {value && !error && <Commands of={value.backups} />}
    </>
  )
}

function Made({ of, reload }: { of: Backups; reload: () => void }) {
  const { timezone } = useProject()
  const moment = (value: string) => (
    <>
      {momentText(value, timezone)} <span class="note">{timezone}</span>
    </>
  )
  const { copied_at, reaches_back_to, verified_at, latest_error, verify_error, failures, copies, bytes, due_at } = of
  return (
    <>
      <p class="note">They have everything of this server, of all its organizations.</p>
      {latest_error !== null && (
        <Failed>
          {failures === 1 ? 'The latest copy failed' : `The latest ${failures} attempts at a copy failed`}: {latest_error}
          {copied_at ? ' What changed since the last copy is in no backup.' : ' There is no backup yet.'}
        </Failed>
      )}
      {verify_error !== null && (
        <Failed>
          The latest verification failed: {verify_error} Do not rely on{' '}
          {verified_at ? 'copies that are newer than the last verified one.' : 'these copies before one is verified.'}
        </Failed>
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label="State of the backups">
        <table class="rows">
          <tbody>
            <Fact name="Last copy">
              {copied_at ? (
                <>
                  <span class={`state ${latest_error === null ? 'good' : 'warn'}`}>{agoText(copied_at)}</span> {moment(copied_at)}
                </>
              ) : (
                <span class="state warn">none yet</span>
              )}
            </Fact>
            <Fact name="Last verified copy">
              {verified_at ? (
                <>
                  <span class={`state ${verify_error === null ? 'good' : 'warn'}`}>{agoText(verified_at)}</span> {moment(verified_at)}
                </>
              ) : (
                <span class="state warn">none yet</span>
              )}
            </Fact>
            <Fact name="Can be brought back">
              {!copied_at || !reaches_back_to ? (
                'Nothing yet'
              ) : copies === 1 ? (
                <>The moment of the only copy, {moment(copied_at)}</>
              ) : (
                <>
                  Every moment from {moment(reaches_back_to)} to {moment(copied_at)}
                </>
              )}
            </Fact>
            <Fact name="Copies">{copies === null ? '–' : `${copies}, the newest of ${Math.ceil((bytes ?? 0) / 1024 ** 2)} MiB`}</Fact>
            <Fact name="Where to">
              <code>{of.to}</code>
            </Fact>
            <Fact name="Next copy">{Date.parse(due_at) <= Date.now() ? 'Now' : moment(due_at)}</Fact>
          </tbody>
        </table>
      </div>
      <p>
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </p>
    </>
  )
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <tr>
    <th scope="row">{name}</th>
    <td class="wrap">{children}</td>
  </tr>
)

const Failed = ({ children }: { children: ComponentChildren }) => (
  <div class="error-box" role="alert">
    <p>{children}</p>
  </div>
)

function Commands({ of }: { of: Backups | null }) {
  const commands = of ? restoreCommands(of.to, of.copied_at && (of.copies ?? 0) > 1 ? of.copied_at : null) : setUpCommands
  return (
    <section class="block">
      <h2>{of ? 'Bring something back' : 'Set up backups'}</h2>
      {commands.map((one) => (
        <CodeBlock key={one.title} {...one} />
      ))}
    </section>
  )
}
