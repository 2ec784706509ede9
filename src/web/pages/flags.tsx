import { useState } from 'preact/hooks'
import type { FeatureFlagAnswer, FlagReasonsAnswer } from '../../doors/answers/feature-flags.ts'
import { HelpLink } from '../docs/help-link.tsx'
import { summaryOf } from '../flags/flag.ts'
import { FlagForm } from '../flags/flag-form.tsx'
import { ApiError, get, patch } from '../lib/api.ts'
import type { PageProps } from '../lib/page.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Ago } from '../ui/ago.tsx'
import { MembersPage } from '../ui/for-members.tsx'
import { Form, RemoveButton, TextField, textOf } from '../ui/forms.tsx'
import { History } from '../ui/history.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { Empty, ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'
import '../ui/records.css'

/** The list; under `new` a form; under an id the flag, and who gets it. */
export function Flags({ place, rest: [which] }: PageProps) {
  if (which === 'new') return <NewFlag />
  if (which !== undefined) return <FlagPage id={which} key={which} />
  return <FlagList place={place} />
}

function FlagList({ place }: { place: Place }) {
  const { api, link, mayChange } = useProject()
  const { of, set } = useAddress(place)
  const search = of('search')
  const list = useList<FeatureFlagAnswer>(api(`feature_flags/?${parameters({ search, limit: 50 })}`))
  return (
    <>
      <PageHead title="Feature flags">
        <HelpLink doc="flags" />
        {mayChange && (
          <a class="button primary" href={linkTo(link('flags/new'))}>
            New flag
          </a>
        )}
      </PageHead>
      <div class="filters">
        <Search label="Search flags" placeholder="Key or description" value={search} onChange={(text) => set({ search: text })} />
      </div>
      <ListTable
        list={list}
        what="feature flags"
        head={[
          { title: 'Key', by: ({ key }) => key },
          { title: 'State', by: ({ active }) => (active ? 'active' : 'inactive') },
          'Who gets it',
          { title: 'Changed', by: ({ updated_at }) => updated_at },
        ]}
        empty={
          search !== '' ? (
            <Empty title="No flag like this">
              <p>Search for something shorter.</p>
            </Empty>
          ) : (
            <Empty title="No flag yet">
              <p>A flag turns something on for some people: by their properties, for a share of them, in variants.</p>
              {mayChange && (
                <p>
                  <a href={linkTo(link('flags/new'))}>Make the first one</a>
                </p>
              )}
            </Empty>
          )
        }
        row={(one) => (
          <tr key={one.id}>
            <td class="wrap">
              <a href={linkTo(link(`flags/${one.id}`))}>{one.key}</a>
              {one.name !== '' && <div class="note">{one.name}</div>}
            </td>
            <td>{one.active ? <span class="state good">active</span> : <span class="state">inactive</span>}</td>
            <td class="wrap">{summaryOf(one)}</td>
            <td class="when">
              <Ago of={one.updated_at} />
            </td>
          </tr>
        )}
      />
    </>
  )
}

function NewFlag() {
  const { link } = useProject()
  return (
    <>
      <PageHead title="New feature flag" />
      <MembersPage>
        <FlagForm flag={null} onSaved={({ id }) => go(linkTo(link(`flags/${id}`)))} />
      </MembersPage>
    </>
  )
}

function FlagPage({ id }: { id: string }) {
  const { api, link, mayChange } = useProject()
  const path = api(`feature_flags/${encodeURIComponent(id)}/`)
  const { value: flag, error, reload } = useLoaded((signal) => get<FeatureFlagAnswer>(path, signal), [path])
  if (error instanceof ApiError && error.status === 404)
    return (
      <NotHere title="There is no such feature flag">
        <p>
          <a href={linkTo(link('flags'))}>All flags</a>
        </p>
      </NotHere>
    )
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!flag) return <Working what="Reading the flag" />
  const show = (deleted: boolean) => patch<FeatureFlagAnswer>(path, { deleted })
  return (
    <>
      <PageHead title={flag.key}>
        <HelpLink doc="flags" />
        {mayChange && (
          <RemoveButton
            label="Delete"
            text={`${flag.key} is deleted. Programs that ask for it get nothing.`}
            remove={() => show(true).then(() => go(linkTo(link('flags'))))}
            undo={() => show(false).then(() => go(linkTo(link(`flags/${id}`))))}
          />
        )}
      </PageHead>
      <p class="note">
        <a href={linkTo(link('flags'))}>Feature flags</a> · {flag.active ? 'active' : 'inactive'} · {summaryOf(flag)}
      </p>
      {mayChange ? <FlagForm flag={flag} onSaved={reload} /> : flag.name !== '' && <p class="wrap">{flag.name}</p>}
      <Tried flag={flag} />
      <History path={path} key={flag.version} />
    </>
  )
}

const reasons: Readonly<Record<string, string>> = {
  condition_match: 'meets condition',
  no_condition_match: 'meets no condition',
  out_of_rollout_bound: 'matches, and is outside of the share of condition',
  no_group_type: 'the flag is one of groups',
}

/** What somebody gets. */
function Tried({ flag }: { flag: FeatureFlagAnswer }) {
  const { api } = useProject()
  const [found, setFound] = useState<{ readonly who: string; readonly text: string } | null>(null)
  const ask = async (form: HTMLFormElement) => {
    const who = textOf(form, 'distinct_id')
    const values = await get<FlagReasonsAnswer>(api(`feature_flags/evaluation_reasons/?${parameters({ distinct_id: who })}`))
    const own = values[flag.key]
    if (!own) return setFound({ who, text: 'gets nothing: the flag is inactive' })
    const { reason, condition_index } = own.evaluation
    const value = own.value === true ? 'gets it' : own.value === false ? 'does not get it' : `gets ${own.value}`
    const isOfOne = reason === 'condition_match' || reason === 'out_of_rollout_bound'
    setFound({ who, text: `${value}: ${reasons[reason] ?? reason}${isOfOne ? ` ${(condition_index ?? 0) + 1}` : ''}` })
  }
  return (
    <section aria-label="Try it">
      <h2>Try it</h2>
      <Form submit="Ask" send={ask} note={found && <span role="status">{`${found.who} ${found.text}.`}</span>}>
        <TextField name="distinct_id" label="Distinct id of a person" required />
      </Form>
    </section>
  )
}
