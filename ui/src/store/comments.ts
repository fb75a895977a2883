// Comments on what a session changed, and which files were looked at: shown at once, kept by the server.

import { createSignal } from 'solid-js'
import * as api from '../api'
import type { ChangedFile, Comment, Review } from '../protocol'
import { messageOf } from './commentText'
import type { Conversations } from './conversations'
import type { Notices } from './notices'

export type ReviewStore = ReturnType<typeof createReview>

/** What stands for the content of a file that is gone. */
const GONE = 'gone'
const contentOf = (file: ChangedFile) => file.after?.id ?? GONE

export function createReview(
  sessionId: string,
  { conversations, notices }: { conversations: Conversations; notices: Notices },
) {
  const [review, setReview] = createSignal<Review>({ comments: [], viewed: {} })
  const load = () => api.review(sessionId).then(setReview)
  load().catch(() => {})

  /** Shows a change at once; what the server says then is what counts. */
  async function change(
    what: string,
    shown: (review: Review) => Review,
    ask: () => Promise<Review>,
  ): Promise<boolean> {
    setReview(shown)
    const answer = await notices.attempt(what, ask)
    if (answer) setReview(answer)
    else await load().catch(() => {})
    return answer !== undefined
  }
  const withComment = (comment: Comment) => (review: Review) => {
    const isKnown = review.comments.some(other => other.commentId === comment.commentId)
    const comments = isKnown
      ? review.comments.map(other => (other.commentId === comment.commentId ? comment : other))
      : [...review.comments, comment]
    return { ...review, comments }
  }
  const put = (comment: Comment) =>
    change('The comment was not kept', withComment(comment), () => api.putComment(sessionId, comment))
  const remove = ({ commentId }: Comment) =>
    change(
      'The comment was not removed',
      review => ({ ...review, comments: review.comments.filter(other => other.commentId !== commentId) }),
      () => api.removeComment(sessionId, commentId),
    )
  const isViewed = (file: ChangedFile) => review().viewed[file.path] === contentOf(file)
  const setViewed = (file: ChangedFile, viewed: boolean) =>
    change(
      'It was not noted',
      review => {
        const { [file.path]: _, ...others } = review.viewed
        return { ...review, viewed: viewed ? { ...others, [file.path]: contentOf(file) } : others }
      },
      () => api.setViewed(sessionId, file.path, viewed ? contentOf(file) : undefined),
    )
  const waiting = () => review().comments.filter(comment => comment.state === 'open')

  /** Sends all that wait as one message; while the agent works it is queued. */
  async function send(): Promise<void> {
    const sent = waiting()
    if (sent.length === 0) return
    const mark = (state: Comment['state']) => (review: Review) =>
      sent.reduce((review, comment) => withComment({ ...comment, state })(review), review)
    setReview(mark('sent'))
    try {
      await conversations.send(sessionId, messageOf(sent), [])
    } catch (error) {
      setReview(mark('open'))
      notices.notify(`The comments were not sent: ${(error as Error).message}`, 'error')
      return
    }
    for (const comment of sent) await put({ ...comment, state: 'sent' })
  }
  return { comments: () => review().comments, waiting, put, remove, isViewed, setViewed, send }
}
