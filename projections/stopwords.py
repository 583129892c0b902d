"""Words without content of their own: left out of a query's terms, kept in the index (simplified, case folded)."""

from __future__ import annotations

from typing import Final

_ZH: Final = (
    "的 地 得 了 着 过 吗 呢 吧 啊 呀 哦 嗯 嘛 哈 啦 么 之 其 所 以 于 而 且 与 及 或 和 跟 同 把 被 让 使 将 给",
    "对 对于 关于 从 到 在 由 自 向 往 为 为了 是 有 就 都 也 还 又 再 才 只 很 太 更 最 挺 蛮 非常 比较 真",
    "会 能 能够 可以 可能 应该 应 该 要 想 请 去 来 上 下 里 中 内 外 前 后 时 时候 个 些 一个 一些 一下 有点",
    "我 你 您 他 她 它 咱 俺 我们 你们 您们 他们 她们 它们 咱们 自己 我的 你的 他的 她的",
    "这 那 这个 那个 这些 那些 这里 那里 这儿 那儿 这样 那样 这么 那么 此 某",
    "什么 甚么 啥 谁 哪 哪个 哪些 哪里 哪儿 哪天 哪年 几 多少 多久 多 何 何时 何地 何处 为何 为什么",
    "怎么 怎样 怎么样 如何 是否 是不是 有没有 能不能 会不会 可不可以",
    "不 没 没有 别 不是 不会 不能 无 非 未 否 如果 若 但 但是 不过 因为 所以 虽然 而且 并且 并 然后",
    "还是 还有 以及 或者 等 等等 已 已经 正在 曾 曾经 刚 刚才 现在 目前 当前",
    "知道 记得 告诉 说 说过 提到 用户",
)

_EN: Final = (
    "a an the this that these those some any each every both all such same other another",
    "i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself",
    "it its itself they them their theirs am is are was were be been being do does did done doing have has had having",
    "will would shall should can could might must im ive id ill youre youve youll hes shes theyre weve",
    "isnt arent wasnt werent dont doesnt didnt havent hasnt hadnt wont wouldnt cant couldnt shouldnt",
    "and or but nor if then else so because as than though although while until unless whether",
    "of at by for with about against between into through during before after above below to from",
    "up down in out on off over under again further once what which who whom whose when where why how",
    "whats whos wheres hows there here not no yes only own too very just also still even ever now",
    "please tell know remember say said mention mentioned s t d ll m re ve o y",
)

STOP_WORDS: Final = frozenset(word for line in (*_ZH, *_EN) for word in line.split())
