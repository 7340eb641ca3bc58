"""Text that talks to the judge instead of about its subject."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from trecjudge.text.steering import patterns
from trecjudge.text.steering.disguise import hidden_text, is_common, plain_forms, spaced_out
from trecjudge.text.steering.patterns import Pattern, Patterns, pattern


def _latin(
    anchors: str, override: tuple[str, str, str], address: tuple[str, str], best: tuple[str, str]
) -> Iterator[Pattern]:
    """Yield a language's patterns, of (verb, earlier, orders), (note to, judge), (give, best)."""
    verb, earlier, orders = override
    yield pattern(
        anchors,
        rf"\b(?:{verb})\b(?=[^.!?\n]{{0,60}}\b(?:{earlier}))[^.!?\n]{{0,50}}?\b(?:{orders})",
        rf"\b(?:{best[0]})\b[^.!?\n]{{0,50}}?\b(?:{best[1]})",
        commanding=True,
    )
    note, judge = address
    yield pattern(
        anchors, rf"\b(?:{note})\s*(?:[\w-]+\s+){{0,2}}?(?:{judge})\w*[^.!?\n:]{{0,30}}[:,!—–]"
    )


LATIN: tuple[Pattern, ...] = (
    *_latin(  # German
        "anweisung|instruktion|vorgabe|befehl|regeln|hinweis an|nachricht an|anmerkung f|"
        "hinweis f|nachricht f|lieber|achtung|beste note|volle |punktz|bewert|wertung|belegt",
        (
            r"ignorier\w*(?:\s+sie)?|vergi(?:ss|ß)|vergesst|vergessen\s+sie|missachte\w*|"
            r"übergeh\w*|verwirf|beachte\w*|befolge\w*",
            r"vorherig|bisherig|vorig|obig|früher|vorangegangen|all|dein|ihre|oben|nicht",
            r"anweisung|instruktion|vorgabe|befehl|regeln|prompt|anleitung",
        ),
        (
            r"(?:hinweis|nachricht|anmerkung|notiz|mitteilung)\s+(?:an|für)|liebe[rs]?|achtung,?",
            r"(?:be)?prüfer|gutachter|(?:be)?werter|bewerter|richter|sprachmodell|ki\b|korrektor|"
            r"juror",
        ),
        (
            r"bewerte\w*(?:\s+sie)?|vergib|vergeben\s+sie|gib|gebt|geben\s+sie|benote\w*|stufe\w*",
            r"(?:volle|höchst|maximal|best)\w*\s+(?:punkt|note|bewertung|wertung|stufe)|"
            r"als\s+(?:\w+\s+)?(?:belegt|gestützt|unterstützt|richtig|korrekt)|"
            r"(?:10|5|3)\s+(?:von|/)\s*(?:10|5|3)",
        ),
    ),
    *_latin(  # French
        "instruction|consigne|directive|note pour|note au|note max|note parf|note la plus|note à|"
        "message au|message pour|message à|meilleure note|cher |chère|évaluat",
        (
            r"ignore[zr]?|oublie[zr]?|ne\s+(?:tiens|tenez)\s+pas\s+compte|"
            r"(?:fais|faites)\s+abstraction|néglige[zr]?|ne\s+(?:suis|suivez)\s+pas",
            r"précédent|antérieur|ci-dessus|toute|tes|vos|plus\s+haut|ces",
            r"instructions?|consignes?|directives?|règles?",
        ),
        (
            r"(?:note|message|remarque|consigne|avis|instructions?)\s+"
            r"(?:à\s+l'|au\s|aux\s|pour\s+(?:l'|le\s|les\s))|cher\s|chère\s|attention,?\s",
            r"évaluateur|évaluatrice|correcteur|examinateur|juge|modèle|ia\b|relecteur",
        ),
        (
            r"donne[zr]?|attribue[zr]?|note[zr]?|mette[z]|mets|accorde[zr]?",
            r"(?:note|score)\s+(?:maximale?|parfaite?|la\s+plus\s+(?:élevée|haute))|"
            r"meilleure?\s+(?:note|score)|(?:10|20|5|3)\s+sur\s+(?:10|20|5|3)",
        ),
    ),
    *_latin(  # Spanish
        "instruccion|indicacion|directri|reglas|nota para|nota al|nota máx|nota max|mensaje para|"
        "mensaje al|aviso|estimad|puntuaci|calificaci|puntaje|mejor nota",
        (
            r"ignor[ae](?:d|n)?|olvid[ae](?:d|n)?|omit[ae]|descart[ae]|no\s+sigas?|"
            r"haz\s+caso\s+omiso|"
            r"no\s+hagas\s+caso|haga\s+caso\s+omiso",
            r"anterior|previ|arriba|toda|tus|sus|precedente",
            r"instrucci|indicaci|órdenes|reglas|directri",
        ),
        (
            r"(?:nota|mensaje|aviso|instrucciones)\s+(?:para|a|al)\s|estimad[oa]\s|querid[oa]\s|"
            r"atención,?\s",
            r"evaluador|juez|jueza|calificador|revisor|corrector|modelo|ia\b|asesor",
        ),
        (
            r"da|dé|dale|dele|otorg(?:a|ue)|asign[ae]|pon|ponga|califi(?:ca|que)|respond[ae]|"
            r"puntúa|eval[uú][ae]",
            r"(?:máxima|mejor|perfecta)\s+(?:puntuaci|nota|calificaci)|"
            r"(?:puntuaci\w+|nota|calificaci\w+|puntaje)\s+(?:máxim|perfect|más\s+alt)|"
            r"(?:10|5|3)\s+(?:de|sobre)\s+(?:10|5|3)",
        ),
    ),
    *_latin(  # Italian
        "istruzioni|indicazioni|regole|direttive|nota per|nota al|messaggio|gentile|punteggio|"
        "voto ",
        (
            r"ignora(?:te|re)?|dimentica(?:te|re)?|trascura(?:te)?|non\s+segui(?:re|te)",
            r"precedent|sopra|tutt|tue|vostre|prima",
            r"istruzioni|indicazioni|regole|direttive",
        ),
        (
            r"(?:nota|messaggio|avviso)\s+(?:per|al|alla|a)\s*(?:il\s|la\s|l')?|gentile\s|"
            r"car[oa]\s",
            r"valutatore|giudice|revisore|correttore|modello|esaminatore|ia\b",
        ),
        (
            r"dai|date|assegna(?:te)?|dà|valuta(?:te)?|attribuisci",
            r"(?:punteggio|voto)\s+(?:massimo|pieno|perfetto|più\s+alto)|"
            r"massimo\s+(?:dei\s+)?(?:punteggio|vot)",
        ),
    ),
    *_latin(  # Portuguese
        "instruç|instruco|regras|ordens|indicaç|indicaco|nota para|nota ao|nota máx|nota max|"
        "mensagem|prezad|pontua|melhor nota",
        (
            r"ignor[ae](?:m)?|esque(?:ça|ce|çam)|desconsider[ae]|não\s+sig[ao]|descart[ae]",
            r"anterior|prévi|acima|toda|suas|tuas",
            r"instru[çc]|regras|ordens|indica[çc]|diretri",
        ),
        (
            r"(?:nota|mensagem|aviso)\s+(?:para|ao|à)\s*(?:o\s|a\s)?|prezad[oa]\s|car[oa]\s",
            r"avaliador|juiz|juíza|revisor|corretor|modelo|ia\b|examinador",
        ),
        (
            r"dê|dá|atribua|atribui|conceda|avalie",
            r"(?:nota|pontuação)\s+(?:máxima|perfeita|mais\s+alta)|melhor\s+(?:nota|pontuação)",
        ),
    ),
)

# In each language: an order to ignore what came before, an address to the grader, a request for
# the best grade.
_GRADER_ZH = (
    r"(?:评审|评委|评估|评分|打分|评判|審查|审查|評審|評分|阅卷|裁判|评测|评价)"
    r"(?:员|員|人员|者|模型|系统|人|ai|专家)?"
)
OTHERS: tuple[Pattern, ...] = (
    pattern(  # Chinese
        "指令|指示|提示|说明|說明|规则|規則|要求|命令|满分|滿分|最高|评|評|打分|阅卷|裁判|审查|"
        "标为|标记|判为",
        r"(?:忽略|忽視|忽视|无视|無視|忘记|忘記|忘掉|不要理会|别管|不用管|不必理会|抛开|撇开|"
        r"不要遵守|不要遵循|请勿遵循)"
        r"[^。！？\n]{0,14}(?:指令|指示|提示词|提示詞|提示|说明|說明|规则|規則|要求|命令|指引)",
        r"(?:给|給|打|评|評|予|得)[^。！？\n]{0,12}(?:满分|滿分|最高分|最高的?(?:评分|分数|评价|"
        r"等级)|高分|(?:10|5|3|十|五|三)\s?分)",
        rf"(?:给|給|致|告|尊敬的|亲爱的|请|"
        rf"請)[^。！？\n]{{0,4}}{_GRADER_ZH}[^。！？\n]{{0,6}}[：:，,！]",
        rf"{_GRADER_ZH}(?:请|請|應|应该|应|必须|务必)[^。！？\n]{{1,30}}",
        r"(?:请|請|必须|应)[^。！？\n]{0,14}(?:标记|标为|标注|判为|判定|评为|"
        r"视为)[^。！？\n]{0,8}(?:支持|正确|真|是|相关)",
    ),
    pattern(  # Russian
        "инструкц|указани|команд|правил|промпт|распоряж|балл|оцен|эксперт|асессор|провер|рецензент|"
        "судь|модел",
        r"(?:игнорируй|проигнорируй|забудь|отбрось|отмени|пренебреги)(?:те)?\b[^.!?\n]{0,50}?"
        r"(?:инструкц|указани|команд|правил|промпт|распоряж|сообщени)",
        r"не\s+(?:обращай|следуй|учитывай|выполняй)(?:те)?\b[^.!?\n]{0,40}?(?:инструкц|указани|"
        r"команд|промпт|распоряж)",
        r"(?:постав|оцен|дай|присво|выстав|назнач)\w*(?:ь|и|ьте|ите|й|йте|те)\b[^.!?\n]{0,50}?"
        r"(?:(?:высш|максимальн|наивысш|лучш)\w*\s+(?:балл|оценк|отметк)|(?:10|5|3)\s+(?:из|"
        r"баллов)|на\s+отлично)",
        r"оцени(?:те)?\s+(?:эт|данн|мо)\w+\s+\w+\s+(?:на|в)\s+(?:\d|отлично|максимум)",
        r"(?:примечание|сообщение|заметка|обращение|инструкция|внимание|уважаем\w+|"
        r"дорог\w+)[,!]?\s+(?:для\s+|к\s+)?(?:\w+\s+)?"
        r"(?:оценщик|эксперт|асессор|проверяющ|рецензент|судь|модел|языков|"
        r"оценивающ)\w*[^.!?\n:]{0,20}[:,!—]",
    ),
    pattern(  # Persian
        "دستور|راهنما|فرمان|پرامپت|نمره|امتیاز|ارزیاب|داور|مصحح",
        r"(?:دستور|راهنما|فرمان|پرامپت)[^.!؟\n]{0,50}?(?:نادیده\s?ب?گیر|فراموش\s?کن|توجه\s?نکن|"
        r"صرف\s?نظر\s?کن|کنار\s?بگذار|رعایت\s?نکن|اجرا\s?نکن)",
        r"(?:نادیده\s?ب?گیر|فراموش\s?کن|توجه\s?نکن)[^.!؟\n]{0,40}?(?:دستور|راهنما|فرمان|پرامپت)",
        r"(?:(?:بالاترین|حداکثر|بیشترین|بهترین)\s+(?:نمره|امتیاز)|(?:نمره|"
        r"امتیاز)\w*\s*ی?\s*(?:کامل|بالا))[^.!؟\n]{0,30}?(?:بده|بدهید|دهید|بدهد|کنید|کن\b|اختصاص)",
        r"(?:یادداشت|توجه|پیام|قابل\s+توجه|نکته|خطاب)[^.!؟\n:]{0,12}(?:ارزیاب|داور|مصحح|"
        r"مدل)[^.!؟\n:]{0,12}[:،!]",
        r"(?:ارزیاب|داور|مصحح)(?:\s+(?:گرامی|عزیز|محترم))\s*[:،!]",
    ),
    pattern(  # Arabic
        "تعليمات|توجيهات|أوامر|اوامر|إرشادات|ارشادات|درجة|علامة|تقييم|مقيم|محكم|مصحح|القاضي|نموذج",
        r"(?:تجاهلي?|انسى?|إنسى?|أهمل|اهمل|تغاض[ىي]?|لا\s+تتبع|"
        r"تخط[ىي]?)\s[^.!؟\n]{0,40}?(?:تعليمات|توجيهات|أوامر|اوامر|إرشادات|ارشادات|القواعد)",
        r"(?:أعط|اعط|إعطاء|منح|امنح|ضع|قيم|سجل)\w*\s[^.!؟\n]{0,40}?(?:أعلى\s+(?:درجة|علامة|تقييم)|"
        r"(?:ال)?(?:درجة|علامة)\s+(?:ال)?(?:كاملة|قصوى|نهائية)|(?:10|5|3)\s+من)",
        r"(?:ملاحظة|رسالة|تنبيه|عزيزي|إلى|انتباه)\s*[^.!؟\n:]{0,10}?(?:مقيم|محكم|مصحح|القاضي|"
        r"للنموذج|النموذج)[^.!؟\n:]{0,12}[:،!]",
    ),
    pattern(  # Japanese
        "指示|命令|指令|プロンプト|ルール|満点|最高|評価者|採点者|審査員|判定者",
        r"(?:指示|命令|指令|プロンプト|ルール)[^。！？\n]{0,15}(?:無視し|無視せ|忘れ|従わない|"
        r"破棄し)",
        r"(?:満点|最高(?:点|評価|得点|スコア))[^。！？\n]{0,15}(?:つけ|付け|与え|ください|下さい|"
        r"お願い|してほし)",
        r"(?:評価者|採点者|審査員|判定者)(?:へ|の方|様|さん|の皆)[^。！？\n]{0,8}[：:、，]",
    ),
    pattern(  # Korean
        "지시|명령|지침|프롬프트|규칙|만점|최고|평가자|채점자|심사위원|심사관",
        r"(?:지시|명령|지침|프롬프트|규칙)[^.!?\n]{0,15}(?:무시(?:하고|하세|해|하십|하라)|잊(?:어|"
        r"으)|따르지)",
        r"(?:만점|최고\s?(?:점|점수|등급|평가))[^.!?\n]{0,15}(?:주세|주십|줘|부여|매겨|처리)",
        r"(?:평가자|채점자|심사위원|심사관)(?:에게|님|께|는|분)[^.!?\n]{0,10}[:,]",
    ),
)


# Words whose letters stand apart, which no harmless text has.
_SPELLED = re.compile(
    r"ignor|disregard|forget|overrid|instruct|fullsupport|partialsupport|nosupport|supported"
    r"|attributed|contradicted|verdict|grader|evaluator|assessor|score|grade"
)


MOST_REMEMBERED = 50_000
"""How many texts have their finding remembered: by hash, in a few MB at most."""
_remembered: dict[int, str | None] = {}


def instruction_like(text: str) -> str | None:
    """Return the first passage of `text` that reads like an instruction to the judge, or None.

    It finds plain orders, disguised ones too. If it finds none, there may still be one. A text that
    many runs cite is looked at once.
    """
    key = hash(text)
    if key not in _remembered:
        if len(_remembered) >= MOST_REMEMBERED:
            _remembered.clear()
        _remembered[key] = _find_instruction(text)
    return _remembered[key]


def _find_instruction(text: str) -> str | None:
    common = is_common(text)
    hidden = None if common else hidden_text(text)
    return hidden if hidden is not None else _found_in(text, common)


def _found_in(text: str, common: bool) -> str | None:
    for form in plain_forms(text, common):
        plain = f"\n{form}"  # a text may begin with what opens a line
        span = _patterns().first(plain)
        if span is None and not common:
            span = _patterns_of_other_scripts().first(plain)
        if span is not None:
            return plain[slice(*span)].strip().lstrip(".!?,; ")
        for written, letters in spaced_out(plain):
            if _SPELLED.search(letters):
                return written
    return None


@cache
def _patterns() -> Patterns:
    return Patterns((*patterns.ENGLISH, *patterns.MARKS, *LATIN))


@cache
def _patterns_of_other_scripts() -> Patterns:
    return Patterns(OTHERS)
