import type { ComponentChildren } from 'preact'
import { agoText } from '../lib/format.ts'
import { InPlace } from './in-place.tsx'
import { Tags } from './tags.tsx'

interface Author {
  readonly first_name: string
  readonly email: string
}
const nameOf = (user: Author | null | undefined): string | null => (user ? user.first_name || user.email : null)

interface Props {
  readonly description: string
  readonly tags: readonly string[]
  readonly author: Author | null
  readonly changed: { readonly at: string; readonly by?: Author | null } | null
  /** Null: the reader may not. */
  readonly change: ((body: object) => Promise<unknown>) | null
  /** Other facts. */
  readonly children?: ComponentChildren
}

/** What is known about an insight or a dashboard, below its name. */
export function AboutDocument({ description, tags, author, changed, change, children }: Props) {
  const [made, by] = [nameOf(author), nameOf(changed?.by)]
  return (
    <div class="about-document">
      {change ? (
        <p>
          <InPlace
            label="Description"
            value={description}
            empty="Add a description"
            most={10_000}
            hasLines
            onSave={(text) => change({ description: text })}
          />
        </p>
      ) : (
        description && <p>{description}</p>
      )}
      <div class="facts note">
        {made && <span>By {made}</span>}
        {changed && (
          <span>
            Changed {agoText(changed.at)}
            {by && by !== made && ` by ${by}`}
          </span>
        )}
        {children}
        <Tags tags={tags} onChange={change && ((next) => change({ tags: next }))} />
      </div>
    </div>
  )
}
