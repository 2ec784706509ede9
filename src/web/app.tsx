import type { FunctionComponent } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { MeAnswer } from '../doors/answers/users.ts'
import { ApiError, whenHeld, whenSignedOut } from './lib/api.ts'
import { current, go, linkTo, type Place, usePlace } from './lib/router.ts'
import { loadSession, type Session, SessionProvider, type SignedIn } from './lib/session.ts'
import { applyTheme, storedTheme } from './lib/theme.ts'
import { useLoaded } from './lib/use-loaded.ts'
import { pages } from './pages/all.ts'
import { CodeStep, SignIn } from './pages/sign-in.tsx'
import { RequiredFactor, Shell } from './shell.tsx'
import { Dialog, ErrorBox, NotHere, Working } from './ui/parts.tsx'

applyTheme(storedTheme())

/** The page of the address is fetched while the server says who is signed in. What fails is told when the page is shown. */
function fetchAhead({ parts: [first, , name] }: Place): void {
  const page = first === 'project' ? pages.find((one) => one.name === name) : first === '' ? pages[0] : undefined
  page?.load().catch(() => undefined)
}
fetchAhead(current())

/** A page that few see, loaded when somebody has to. */
function Rare<P extends object>({ load, props }: { load: () => Promise<FunctionComponent<P>>; props: P }) {
  const { value: Page, error } = useLoaded(load, [load])
  if (error) return <ErrorBox error={error} />
  return Page ? <Page {...props} /> : <Working />
}
const setUpPage = async () => (await import('./pages/set-up-second-factor.tsx')).SetUpSecondFactor
const consentPage = async () => (await import('./pages/consent.tsx')).Consent
const confirmPage = async () => (await import('./pages/confirm-address.tsx')).ConfirmAddress
const forgotPage = async () => (await import('./pages/new-password.tsx')).ForgotPassword
const newPasswordPage = async () => (await import('./pages/new-password.tsx')).NewPassword

/** The same. */
function JoinPage(props: { secret: string; user: MeAnswer | null; onDone: () => void }) {
  const { value: Page, error } = useLoaded(async () => (await import('./pages/joining.tsx')).Join, [])
  if (error) return <ErrorBox error={error} />
  return Page ? <Page {...props} /> : <Working />
}

/** The same. */
function FirstOwnerPage(props: { secret: string; onDone: () => void }) {
  const { value: Page, error } = useLoaded(async () => (await import('./pages/joining.tsx')).Setup, [])
  if (error) return <ErrorBox error={error} />
  return Page ? <Page {...props} /> : <Working />
}

/** The same. */
function ProblemPage({ search, isSignedIn }: { search: URLSearchParams; isSignedIn: boolean }) {
  const { value: Page, error } = useLoaded(async () => (await import('./pages/sign-on-problem.tsx')).SignOnProblem, [])
  if (error) return <ErrorBox error={error} />
  const [problem, provider] = [search.get('problem') ?? '', search.get('provider') ?? '']
  return Page ? <Page problem={problem} provider={provider} isSignedIn={isSignedIn} /> : <Working />
}

export function App() {
  const { place, isLeaving, stay, leave } = usePlace()
  return (
    <>
      <Routed place={place} />
      {isLeaving && (
        <Dialog title="Leave without saving?" onClose={stay}>
          <p>What you typed on this page is not saved.</p>
          <div class="row">
            <button type="button" class="primary" autofocus onClick={stay}>
              Stay
            </button>
            <button type="button" onClick={leave}>
              Leave
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

function Routed({ place }: { place: Place }) {
  const [known, setKnown] = useState<SignedIn | 'nobody' | null>(null)
  const [error, setError] = useState<Error | null>(null)

  const load = useCallback(async () => {
    try {
      setKnown((await loadSession()) ?? 'nobody')
      setError(null)
    } catch (failure) {
      if (failure instanceof ApiError && (failure.status === 401 || failure.status === 403)) setKnown('nobody')
      else setError(failure as Error)
    }
  }, [])
  useEffect(() => {
    whenSignedOut(() => setKnown((before) => before && 'nobody'))
    whenHeld(() => void load())
    void load()
  }, [])

  if (error)
    return (
      <main>
        <ErrorBox error={error} retry={() => void load()} />
      </main>
    )
  if (known === null) return <Working />
  const signedIn = () => void load()
  if (place.parts[0] === 'signup')
    return (
      <JoinPage
        secret={place.parts[1] ?? ''}
        user={known === 'nobody' ? null : known.user}
        onDone={signedIn}
        key={`${place.path} ${known === 'nobody'}`}
      />
    )
  if (place.path === 'forgot') return <Rare load={forgotPage} props={{}} />
  if (place.parts[0] === 'reset')
    return (
      <Rare
        load={newPasswordPage}
        props={{ user: place.parts[1] ?? '', secret: place.parts[2] ?? '', onDone: signedIn }}
        key={place.path}
      />
    )
  if (place.path === 'sign-in' && place.search.has('problem')) return <ProblemPage search={place.search} isSignedIn={known !== 'nobody'} />
  if (known === 'nobody' && place.path === 'second-factor') {
    const leave = () => go('#/', true)
    return (
      <CodeStep
        onDone={() => {
          leave()
          signedIn()
        }}
        onAgain={leave}
      />
    )
  }
  if (known === 'nobody') {
    return place.path === 'setup' ? (
      <FirstOwnerPage secret={place.search.get('secret') ?? ''} onDone={signedIn} />
    ) : (
      <SignIn onDone={signedIn} />
    )
  }
  if (known.mustSetUp) return <Rare load={setUpPage} props={{ user: known.user, requiredBy: known.requires2fa, onDone: signedIn }} />
  if (place.parts[0] === 'confirm')
    return <Rare load={confirmPage} props={{ secret: place.parts[1] ?? '', onDone: signedIn }} key={place.path} />
  if (place.path === 'consent') return <Rare load={consentPage} props={{ search: place.search, known }} key={String(place.search)} />
  const { user, projects, requires2fa } = known
  // Who comes without a page, or has just chosen a password, is led to the first one.
  const asked = ['', 'setup', 'sign-in', 'second-factor'].includes(place.path) ? null : place.parts
  const isOfProject = asked !== null && asked[0] === 'project'
  const project = isOfProject
    ? projects.find(({ id }) => String(id) === asked[1])
    : (projects.find(({ id }) => id === user.team?.id) ?? projects[0])
  if (!project)
    return projects.length === 0 ? (
      <main>
        <NotHere title="No project yet">
          <p>
            Create one: <code>waymark projects create</code>, or <code>POST /api/projects/</code>.
          </p>
        </NotHere>
      </main>
    ) : (
      <main>
        <NotHere title="This project does not exist, or you may not see it">
          <p>
            <a href={linkTo(`project/${projects[0]!.id}/${pages[0]!.name}`)}>Go to {projects[0]!.name}</a>
          </p>
          <RequiredFactor by={requires2fa} link={linkTo(`project/${projects[0]!.id}/settings/account`)} />
        </NotHere>
      </main>
    )
  const [name = '', ...rest] = isOfProject ? asked.slice(2) : []
  const page = pages.find((one) => one.name === name && one.takes(rest))
  if (!page || rest.includes('')) {
    if (asked === null || (isOfProject && name === '' && rest.length === 0)) go(linkTo(`project/${project.id}/${pages[0]!.name}`), true)
    return (
      <main>
        <NotHere title="There is no such page">
          <p>
            <a href={linkTo(`project/${project.id}/${pages[0]!.name}`)}>Go to the first one</a>
          </p>
        </NotHere>
      </main>
    )
  }
  const session: Session = { user, projects, project, requires2fa, reload: load }
  return (
    <SessionProvider value={session}>
      <Shell page={page} place={place} />
    </SessionProvider>
  )
}
