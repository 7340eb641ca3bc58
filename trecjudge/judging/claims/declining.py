"""Sentences that decline to answer, in English and in the other languages of the tracks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from trecjudge.text import expression


# Declining to answer in the other languages of the tracks, and in more of Europe and Asia.
@dataclass(frozen=True, slots=True)
class Language:
    """A language: `lack` is what a sentence that declines must have, `declining` its patterns."""

    lack: re.Pattern[str]
    declining: str

    def declines(self, sentence: str) -> bool:
        """Return whether a sentence that has `lack` states that an answer is lacking."""
        return expression(self.declining, re.IGNORECASE).search(sentence) is not None


def _language(lack: str, *patterns: str) -> Language:
    return Language(re.compile(lack, re.IGNORECASE), "|".join(patterns))


_DE = (
    r"(?:(?:die|den|der|dem|das|diese[nmrs]?|meine[nr]?|keine[srm]?\s+der|einem\s+der)\s+)?"
    r"(?:(?:bereitgestellt|vorliegend|gegeben|angegeben|verfügbar|vorhanden|gefunden|zitiert|"
    r"genannt)e[nrms]?\s+)?"
    r"(?:dokumente?n?|quellen?|texte?n?|passagen?|unterlagen|auszüge?n?|kontext|suchergebnisse?n?|"
    r"textstellen)"
)
_GERMAN = _language(
    r"\b(?:nicht|nichts|kein\w*|unmöglich|unklar|unzureichend\w*|fehl\w+|weder|schweig\w+)\b",
    rf"\b{_DE}\s+(?:\w+\s+)?(?:enthalten|enthält|erwähn\w+|nenn\w+|geb\w+|gibt|mach\w+|sag\w+|"
    rf"liefer\w+|biet\w+|beantwort\w+|"
    r"schweig\w+|geht|gehen|erläuter\w+|erklär\w+)\b[^.;]{0,60}\b(?:nicht|nichts|kein\w*)\b",
    rf"\b{_DE}\s+schweig\w+\b",
    r"\bkeine[sr]?\s+(?:der|dieser|meiner)\s+(?:\w+en\s+)?(?:dokumente|quellen|texte|passagen|"
    r"unterlagen|auszüge)\s+"
    r"(?:erwähnt|enthält|nennt|sagt|gibt|beantwortet|erklärt|liefert|geht)\b",
    rf"\b(?:in|aus|anhand|mit|nach|auf\s+(?:der\s+)?(?:grundlage|"
    rf"basis))\s+{_DE}\b[^.;]{{0,50}}\b(?:"
    r"(?:steht|findet|finden|gibt|ist|sind|wird|werden|lässt|lassen|kann|"
    r"können)\b[^.;]{0,40}\b(?:nicht|nichts|kein\w*)\b|nicht\b)",
    r"\b(?:lässt|lassen|kann|können)\s+(?:sich\s+)?(?:\w+\s+){0,2}?(?:anhand|aus|mit|"
    r"auf\s+grundlage)\s+"
    rf"{_DE}\s+nicht\b",
    r"^(?:leider\s+|tut\s+mir\s+leid,?\s+(?:aber\s+)?)?(?:(?:kann|konnte|habe|weiß)\s+ich|"
    r"ich\s+(?:habe|kann|konnte|weiß|weiss|verfüge|finde))\b"
    r"[^.;]{0,60}\b(?:nicht\b[^.;]{0,20}(?:beantwort|antwort|finden|sagen|bestimm|$|[.!])|"
    r"weiß\s+(?:es\s+)?nicht|"
    r"keine?\s+(?:\w+\s+)?(?:information|antwort|angabe|auskunft|kenntnis|hinweise))",
    r"^(?:leider\s+)?ich\s+(?:wei(?:ß|ss)\s+(?:es\s+)?nicht|kann\s+\w*\s*(?:frage|das)?\s*nicht)",
    r"\b(?:es\s+gibt|liegen|liegt|gibt\s+es)\b[^.;]{0,40}\b(?:keine?|nicht\s+genügend|"
    r"nicht\s+genug|zu\s+wenig|unzureichende)\s+"
    r"(?:\w+\s+)?(?:information|angabe|auskünft|antwort|hinweise)",
    r"\b(?:nicht\s+genügend|nicht\s+genug|unzureichende|keine\s+ausreichenden|"
    r"keine)\s+(?:information|angabe)\w*"
    r"(?:[^.;]{0,40}\b(?:beantwort|antwort|verfügbar|vorhanden|gefunden)|[.!\s]*$)",
)
_FR_SOURCES = (
    r"(?:documents?|sources?|passages?|textes?|extraits?|articles?|contextes?|"
    r"résultats\s+de\s+recherche)"
)
_FRENCH = _language(
    r"\b(?:ne|pas|aucune?s?|impossible|insuffisant\w*|rien|manque\w*|muet\w*)\b|\bn['’]",
    rf"\b(?:les|ces|le|ce|mes|vos)\s+{_FR_SOURCES}(?:\s+(?:fourni|donné|disponible|cité|consulté|"
    rf"récupéré|trouvé)\w*)?\s+"
    r"(?:ne\s+|n['’])(?:me\s+|nous\s+)?(?:mentionn|conti|précis|indiqu|fourni|donn|parl|di[st]|"
    r"répond|permet|évoqu|abord|spécifi|traite|"
    r"offr|compor|révèl|expliqu|fait|font)",
    rf"\baucune?\s+(?:des|de\s+ces|de\s+mes)?\s*(?:\w+\s+)?{_FR_SOURCES}(?:\s+\w+s)?\s+(?:ne\s+|"
    rf"n['’])"
    r"(?:mentionn|conti|précis|indiqu|fourni|donn|parl|di[st]|répond|permet|évoqu|abord|spécifi|"
    r"traite)",
    rf"\b(?:dans|selon|d['’]après|à\s+partir\s+d\w*|sur\s+la\s+base\s+d\w*)\s+(?:les\s+|ces\s+|"
    rf"des\s+)?{_FR_SOURCES}\b[^.;]{{0,50}}"
    r"\b(?:(?:n['’]|ne\s)[^.;]{0,30}\b(?:pas|aucun\w*|rien)|impossible|aucune\s+(?:information|"
    r"réponse|mention))",
    r"\b(?:je|nous)\s+(?:ne\s+|n['’])(?=[^.;]{0,60}\b(?:sai[st]|savons|répon\w+|information\w*|"
    r"réponse\w*|trouv\w+|détermin\w+|confirm\w+|dispos\w+))",
    r"\bil\s+n['’]y\s+a\s+(?:pas\s+(?:assez|suffisamment)\s+d|pas\s+d|"
    r"aucune?\s)['’e]?\s*(?:information|réponse|détail|élément|précision)",
    r"\b(?:informations?|éléments)\s+insuffisant\w*",
    r"^pas\s+(?:assez|suffisamment)\s+d['’](?:informations?|éléments)",
    rf"\b(?:les|ces)\s+{_FR_SOURCES}\s+(?:sont|restent)\s+muet\w*",
    r"^(?:désolée?,?\s+)?(?:il\s+(?:est|m['’]est)\s+)?impossible\s+de\s+(?:répondre|déterminer|"
    r"savoir|dire|trouver)",
    r"\baucune\s+(?:information|réponse)\b(?:[^.;]{0,40}\b(?:trouvée?|disponible|fournie?|"
    r"dans\s+(?:les|ces)\s)|[.!\s]*$)",
)
_ES_SOURCES = (
    r"(?:documentos?|fuentes?|pasajes?|textos?|fragmentos?|artículos?|contextos?|"
    r"resultados\s+de\s+(?:la\s+)?búsqueda|extractos?)"
)
_ES_SAY = (
    r"(?:menciona|contien|especific|indica|proporcion|di(?:ce|cen|jo)|ofrece|incluye|respond|"
    r"aclara|precisa|explica|señala|"
    r"aborda|detalla|revela|trata|hace|permite|da[n]?\b|habla)"
)
_SPANISH = _language(
    r"\b(?:no|ningun\w*|ningún|imposible|insuficiente\w*|nada|falta\w*|silencio)\b",
    r"^(?:lo\s+siento,?\s+(?:pero\s+)?)?no\s+lo\s+sé\b",
    rf"\b(?:los|las|estos|estas)\s+{_ES_SOURCES}(?:\s+\w+d[oa]s?)?\s+guardan\s+silencio",
    rf"\bno\s+se\s+puede\s+(?:determinar|responder|saber|contestar|"
    rf"decir)\b[^.;]{{0,50}}{_ES_SOURCES}",
    rf"\b(?:los|las|estos|estas|el|la|mis|sus)\s+{_ES_SOURCES}(?:\s+\w+d[oa]s?|"
    rf"\s+disponibles?)?\s+no\s+{_ES_SAY}",
    rf"\b(?:ningun[oa]|ningún)\s+(?:de\s+(?:los|las|estos|estas|"
    rf"mis)\s+)?{_ES_SOURCES}(?:\s+\w+d[oa]s?)?\s+{_ES_SAY}",
    rf"\b(?:en|con|según|a\s+partir\s+de|de)\s+(?:los|las|estos|estas|el|la)\s+(?:{_ES_SOURCES}|"
    rf"información)\b[^.;]{{0,50}}\bno\s+"
    r"(?:se\s+|hay\s+|es\s+posible|puedo|aparece|consta|figura)",
    rf"\bno\s+se\s+(?:encontr|hall|mencion|indic|especific|dice|proporcion|"
    rf"localiz)\w*[^.;]{{0,50}}\b(?:respuesta|información|{_ES_SOURCES})",
    r"\bno\s+(?:puedo|podemos|sé|tengo|tenemos|dispongo|encuentro|encontré|logré|pude|conozco)\b"
    r"(?=[^.;]{0,60}\b(?:respond\w+|información|respuesta|determinar|contestar|datos|encontrar)|"
    r"[.!\s]*$)",
    r"\bno\s+hay\s+(?:(?:suficiente|ninguna|bastante|esa|más|tal)\s+)?(?:información|respuesta|"
    r"detalles|datos\s+suficientes)",
    r"\binformación\s+(?:es\s+|proporcionada\s+es\s+|disponible\s+es\s+)?insuficiente",
    r"\b(?:no\s+es\s+posible|imposible)\s+(?:responder|determinar|saber|contestar|"
    r"decir)\b[^.;]{0,60}(?:$|[.!]|\bcon\b|\bsegún\b|\bpregunta)",
)
_ZH_SOURCES = (
    r"(?:文档|文檔|文件|资料|資料|材料|上下文|段落|来源|來源|检索结果|檢索結果|搜索结果|搜尋結果|"
    r"文本|文章|原文|文中|"
    r"背景信息|(?:提供|给定|給定|上述|现有|已有|所给)的?(?:信息|資訊|内容|內容))"
)
_CHINESE = _language(
    r"[没沒未无無不缺]",
    rf"{_ZH_SOURCES}(?:中|里|裡|内|內)?[^。；，,]{{0,8}}(?:没有|沒有|没|沒|未能|并未|並未|未|不|无|"
    rf"無)[^。；]{{0,4}}"
    r"(?:提到|提及|说明|說明|包含|含有|提供|给出|給出|涉及|记载|記載|指出|回答|解释|解釋|相关|相關|"
    r"关于|關於|任何|足够|足夠|明确|明確|讨论|討論|信息|資訊|答案|说|說|显示)",
    r"(?:信息|資訊|资料|資料|上下文|依据)(?:并|並|都)?(?:不足|不够|不夠|有限|不充分)",
    r"(?:没有|沒有|缺乏|缺少|无|無)(?:足够|足夠|充分|相关|相關|有关|有關|任何|这方面|"
    r"具体)?的?(?:相关|相關)?的?(?:信息|資訊|资料|資料|上下文|答案)"
    r"(?=[^。；]{0,16}(?:回答|答复|判断|确定|確定|来)|[。！!\s]*$)",
    r"^(?:很|非常)?(?:抱歉|对不起|對不起|遗憾|遺憾)?[，,]?\s*(?:但)?(?:我|我们|我們)?(?:目前|"
    r"暂时)?(?:无法|無法|不能|未能|难以)"
    r"(?:根据[^。，,]{0,16})?(?:回答|作答|确定|確定|判断|判斷|提供|找到|得出|给出|給出|答复)",
    r"^(?:很|非常)?(?:抱歉|对不起|對不起)?[，,]?\s*我(?:们)?(?:没有.{0,12}(?:信息|資訊|资料|資料|"
    r"答案)|不知道|找不到|不清楚|"
    r"(?:无法|無法|不能)(?:根据.{0,16})?(?:回答|确定|確定|提供|找到))",
    r"(?:无法|無法|不能)回答(?:这个|這個|该|該|此|您的|你的)?(?:问题|問題)",
    rf"(?:根据|根據|依据|基于|基於|从|從|由)[^。；，,]{{0,12}}(?:{_ZH_SOURCES}|信息|内容|"
    rf"資訊)[^。；，,]{{0,6}}[，,]?[^。；]{{0,8}}(?:无法|無法|不能|难以|難以)",
    r"(?:未|没有|沒有|没能|未能)(?:能)?(?:找到|检索到|查到|搜索到|發現|"
    r"发现)(?:任何)?(?:与.{0,10})?(?:相关|相關|有关|有關|对应)?的?(?:信息|資訊|答案|资料|資料|内容|"
    r"文档)",
)
_RU_SOURCES = (
    r"(?:документ|источник|текст|отрывк|отрывок|фрагмент|материал|контекст|стать|пассаж|"
    r"результатах\s+поиска)\w*"
)
_RU_WHICH = (
    r"(?:(?:эти\w*|этом|данн\w+|предоставленн\w+|привед[её]нн\w+|имеющ\w+|указанн\w+|"
    r"найденн\w+|моих)\s+)*"
)
_RUSSIAN = _language(
    r"\b(?:не|нет|ни|ничего|невозможно|нельзя|недостаточно|отсутству\w+|молчат|умалчива\w+)\b",
    rf"\b(?:в|во|из|по|на\s+основе|на\s+основании|согласно|"
    rf"исходя\s+из)\s+{_RU_WHICH}{_RU_SOURCES}\b[^.;]{{0,50}}?\b"
    r"(?:нет\s+(?:\w+\s+)?(?:информац|сведен|ответ|данных|упоминан)|не\s+(?:\w+\s+)?(?:содерж|указ|"
    r"упом|сказ|говор|привед|привод|сообщ|найд|наш|уточн|раскр)|"
    r"ничего\s+не|невозможно|нельзя|отсутству\w+)",
    rf"\b{_RU_WHICH}{_RU_SOURCES}\s+(?:\w+\s+){{0,2}}?(?:не\s+(?:содерж|упомина|указыва|сообща|"
    rf"говор|да[юе]т|предостав|раскры|уточн|отвеча|позвол)|"
    r"ничего\s+не|молч|умалчив)",
    rf"\bни\s+(?:в\s+)?одн\w+\s+(?:из\s+)?{_RU_WHICH}{_RU_SOURCES}",
    r"\bнедостаточно\s+(?:информации|данных|сведений)\b(?=[^.;]{0,30}(?:ответ|чтобы|определ)|"
    r"[.!\s]*$)",
    r"^(?:информации|данных|сведений)\s+недостаточно|^нет\s+(?:никакой\s+)?(?:информации|"
    r"сведений)\b"
    r"(?=[^.;]{0,20}(?:об\s+этом|по\s+(?:этому\s+)?(?:тем|вопрос))|[.!\s]*$)",
    r"^(?:к\s+сожалению,?\s+)?не\s+мо(?:гу|жем)\s+(?:ответить|определить|найти)",
    r"\b(?:ответ|информаци|сведени)\w*\b[^.;]{0,30}\b(?:найти\s+не\s+удалось|не\s+найден|"
    r"не\s+удалось\s+найти|не\s+обнаружен)",
    r"\bне\s+удалось\s+найти\s+(?:\w+\s+)?(?:ответ|информац|сведен)",
    r"^(?:к\s+сожалению,?\s+)?(?:невозможно|нельзя)\s+(?:ответить|определить|установить|сказать)",
    r"\bневозможно\s+ответить\s+на\s+(?:этот\s+|данный\s+)?вопрос",
    r"^(?:к\s+сожалению,?\s+|извините,?\s+(?:но\s+)?)?(?:у\s+меня\s+нет|(?:я|мы)\s+не\s+(?:зна|"
    r"мо(?:гу|жем)\s+(?:ответ|найт|сказ|опред|предост)|наш[её]?л|располага|смог))",
)
_FA_SOURCES = (
    r"(?:اسناد|سند|منابع|منبع|متن|متون|مدارک|مطالب|مقالات|مقاله|زمینه)\s?(?:ها)?\s?(?:ی|یی)?"
)
_FA_NOT = r"(?:ن(?:دارد|دارند|یست|شده|شد|کرده|کرد|داده|داد|یامده|گفته|می\s?\w+))"
_PERSIAN = _language(
    r"ن(?:می|دار|یست|شد|کرد|داد|یامد|گفت)|هیچ|ناکافی",
    rf"(?:در|از|بر\s?اساس|با|طبق)\s+(?:این\s+|آن\s+)?{_FA_SOURCES}\s[^.؟]{{0,50}}?(?:(?:اطلاعات|"
    rf"پاسخ|جواب|اشاره|ذکر|چیزی|مطلبی|توضیح|مشخص)"
    rf"[^.؟]{{0,30}}{_FA_NOT}|نمی\s?توان)",
    rf"(?:^|\s){_FA_SOURCES}\s[^.؟]{{0,40}}?(?:اشاره|ذکر|بیان|مشخص|توضیح|اطلاعات|چیزی|"
    rf"پاسخ)[^.؟]{{0,25}}{_FA_NOT}",
    rf"هیچ\s?(?:یک|کدام)\s+از\s+(?:این\s+)?{_FA_SOURCES}",
    r"(?:^|[\s،])نمی\s?(?:توانم|توانیم|دانم|دانیم)",
    r"اطلاعات\s?(?:ی)?\s+(?:کافی|لازم)[^.؟]{0,30}(?:ندارد|ندار|نیست)",
    r"(?:پاسخ|جواب|اطلاعات)\s?ی?\s[^.؟]{0,40}(?:یافت\s+نشد|پیدا\s+نشد|پیدا\s+نکردم|نیافتم)",
    r"اطلاعات\s?ی?\s[^.؟]{0,40}ندار(?:م|یم)",
)
_AR_SOURCES = r"(?:(?:ال)?(?:وثائق|وثيقة|مستندات|مستند|نصوص|مصادر|مقاطع|مقتطفات|سياق|مقالات)|النص)"
_AR_SAY = (
    r"(?:[تي](?:ذكر|حتوي?|تضمن|شير|وضح|قدم|حدد|جيب?|نص|وفر|تناول|رد|تطرق|تحدث|فصح|بين|شمل|خبر|"
    r"عط))\w*"
)
_ARABIC = _language(
    r"(?:^|\s)(?:لا|لم|لن|ليس|ليست|غير|دون)\s",
    rf"(?:لا|لم|لن)\s+{_AR_SAY}\s+(?:\w+\s+){{0,2}}?{_AR_SOURCES}",
    rf"{_AR_SOURCES}\s+(?:\w+\s+){{0,2}}?(?:لا|لم|لن)\s+{_AR_SAY}",
    rf"(?:لا|لم|لن)\s+(?:يرد|ترد|يُذكر|يذكر|تذكر|توجد|يوجد|"
    rf"تتوفر)\s[^.؟]{{0,40}}\sفي\s+{_AR_SOURCES}",
    r"(?:لا|ليس|ليست)\s+(?:(?:توجد|يوجد|تتوفر|يتوفر|هناك|لدي|لدينا)\s+)+(?:أي\s+|"
    r"أية\s+)?(?:معلومات|إجابة|اجابة|تفاصيل)",
    r"(?:^|[\s،,])(?:لا\s+(?:أملك|أعرف|أعلم|أستطيع|استطيع|يمكنني|نستطيع|يمكننا)|"
    r"ليس(?:ت)?\s+لدي)(?:\s|[.!]|$)",
    r"(?:^|[\s،,])(?:لم\s+(?:أجد|اجد|أعثر|أتمكن|نجد|نتمكن|يتم\s+العثور))\s[^.؟]{0,40}(?:إجابة|"
    r"اجابة|معلومات|جواب|الإجابة|تحديد)",
    rf"لا\s+يمكن\s+(?:ال)?(?:إجابة|اجابة|تحديد|معرفة|تأكد)[^.؟]{{0,60}}(?:{_AR_SOURCES}|سؤال|"
    rf"معلومات)",
    r"المعلومات\s[^.؟]{0,30}(?:غير\s+كافية|لا\s+تكفي)",
)
_LATIN_SOURCES = (
    r"(?:document(?:i|en|os)|dokument\w*|testi|teksten|textos|tekst\w*|fonti|bronnen|fontes|źródł\w*|"
    r"passaggi|passages|trechos|contesto|contexto|context|kontek\w+|belge\w*|kaynak\w*|metin\w*)"
)
_INFORMATION = (
    r"(?:informa\w+|rispo\w+|risponde\w*|antwoord\w*|beantwoord\w*|respo\w+|odpowie\w+|"
    r"odpowiada\w*|bilgi\w*|cevap\w*|yanıt\w*)"
)
_OTHER_LATIN = _language(
    r"\b(?:non|nessun\w*|niet|geen|onvoldoende|não|nenhum\w*|nie|brak\w*|\w+m[aeıiuü]\w+|yok\w*)\b",
    r"\b(?:non\s+(?:ho|abbiamo|dispongo|posso|possiamo|riesco|trovo|sono\s+in\s+grado)|"
    r"não\s+(?:posso|consigo|podemos|tenho|encontr\w+|(?:é|foi)\s+possível|há)|"
    r"nie\s+(?:mogę|możemy|potrafię|jestem\s+w\s+stanie|znal\w+|mam)|"
    rf"niet\s+genoeg|onvoldoende|brak|(?:ik\s+)?(?:kan|heb|vond)\b[^.;]{{0,60}}\b(?:niet|geen))\b[^.;]{{0,60}}\b{_INFORMATION}",
    r"^(?:non\s+lo\s+so|ik\s+weet\s+het\s+niet|não\s+sei|nie\s+wiem|bilmiyorum)\b[.!\s]*$",
    rf"\b{_LATIN_SOURCES}(?:\s+\w+)?\s+(?:non|não|nie|niet|geen|bevatten\s+geen)\b",
    rf"\b{_LATIN_SOURCES}\b[^.;]{{0,40}}\b(?:non|geen|niet|não|nie\s+ma|brak)\b[^.;]{{0,40}}"
    rf"\b{_INFORMATION}",
    rf"\b{_INFORMATION}\b[^.;]{{0,30}}\b(?:bulun[ma]\w+|yer\s+alm[ıa]\w+|yok(?:tur)?|verem\w+|"
    r"içerm\w+|sahip\s+değil\w*)[.!\s]*$|\bsoru\w*[^.;]{0,30}\b(?:yanıt|cevap)layam\w+",
)
_JAPANESE_OR_KOREAN = _language(
    r"ませ?ん|ない|不足|없|않|못|부족|모르|죄송",
    r"(?:お答え|回答|答え(?:る)?)(?:すること)?(?:こと)?[はがを]?(?:でき|出来)(?:ませ|な)",
    r"(?:情報|答え|回答|記載|記述|言及)[はがをも]?[^。]{0,12}"
    r"(?:見つか(?:りませ|らな)|見つけられ|(?:ありませ|含まれていませ|得られませ)ん|不足)",
    r"(?:文書|提供された情報|資料|文献|文脈|コンテキスト|出典)[^。]{0,30}(?:記載|言及|述べ|書か|含ま)[^。]{0,8}(?:ません|ない)",
    r"^(?:すみませんが、?)?(?:わかり|分かり)ません|^申し訳[^、。]{0,8}。?$|^죄송합니다[.\s]*$|^(?:잘\s?)?모르겠",
    r"(?:답|답변|대답)(?:할|드릴|하기|을\s?할|을\s?드릴)\s?수(?:가|는)?\s?없",
    r"(?:문서|자료|문맥|출처|본문)[^.]{0,40}(?:정보|답|내용|언급)[^.]{0,20}(?:없|않|못)",
    r"정보[가를는]?\s?[^.]{0,12}(?:부족|찾을\s?수\s?없|없습니다)",
)
_ZERO_WIDTH = re.compile("\u200c")


_LATIN = (_GERMAN, _FRENCH, _SPANISH, _OTHER_LATIN)
_OTHERS = (_CHINESE, _RUSSIAN, _PERSIAN, _ARABIC, _JAPANESE_OR_KOREAN)


# Sentences that decline to answer, because the sources, or the answerer, lack it.
_SOURCE = (
    r"(?:documents?|contexts?|sources?|passages?|references?|segments?|excerpts?|snippets?|"
    r"(?:search\s+)?results?|texts?|articles?|corpus|(?:source\s+)?materials?|"
    r"(?:background\s+)?information|evidence|data|reports?|collection|content)"
)
# Declining is told by structure, not by a list: a source that does not mention it; an answerer
# who cannot know it from the sources; information that is not there. A statement about the world
# ("Nobody knows when", "The law does not mention it") is a claim.
_SURELY = (
    r"(?:documents?|contexts?|sources?|passages?|references?|segments?|excerpts?|snippets?|"
    r"search\s+results?|texts?|articles?|corpus|source\s+materials?|information)"
)
"""Surely a source, without more words; a report or a material may be the subject."""

_GIVEN = (
    r"(?:provided|given|available|retrieved|supplied|cited|above|listed|search|source|accessible|"
    r"present|attached|returned|two|three|four|five|many|few)"
)
_HERE = (
    r"(?:provided|given|available|retrieved|supplied|at\s+hand|here|above|at\s+my\s+disposal|"
    r"(?:that\s+|which\s+)?(?:i|we)\s+(?:have|had|was\s+given|were\s+given|was\s+provided))"
)
MATERIAL = rf"(?:(?:the|these|those|any|all|my|your|this|our)\s+)?(?:{_GIVEN}\s+){{1,4}}{_SOURCE}"
"""The sources of an answer, called so."""

THE_MATERIAL = (
    rf"(?:{MATERIAL}|(?:the|these|those|this|my|our|its)\s+{_SURELY}(?:\s+{_HERE})?"
    rf"|(?:the|these|those|this)\s+{_SOURCE}\s+{_HERE})"
)
_ADVERB = r"(?:(?:\w+ly|also|even|in\s+fact|themselves|itself|at\s+all)\s+)?"
_NOT = (
    r"(?:(?:do|does|did|can|could|will|would)\s+not|don['’]t|doesn['’]t|didn['’]t|cannot|can['’]t|"
    r"couldn['’]t|won['’]t|never|fail(?:s|ed)?\s+to|neither)"
)
_SAY = (
    r"(?:seem\s+to\s+|appear\s+to\s+|directly\s+|explicitly\s+)?"
    r"(?:mention|contain|provide|say|specify|include|address|state|give|discuss|answer|cover|have|"
    r"offer|indicate|explain|describe|detail|evaluate|list|tell|reveal|clarify|report|disclose|"
    r"identify|yield|allow|permit|elaborate|touch|speak|name|define|mention|refer|respond|note)"
)
_SAYS = rf"{_SAY}(?:e?s|d|ed)?"
_LACKING = (
    r"(?:information|infos?|details?|answers?|data|mention|context|specifics|indication|"
    r"explanation|reference|facts|knowledge|clues?|discussion|description)"
)
_KIND = (
    r"(?:(?:relevant|specific|further|additional|direct|clear|explicit|reliable|exact|useful)\s+)*"
)
_FIND_OUT = (
    r"(?:answer|determine|say|tell|know|respond|reply|find|establish|conclude|confirm|verify|"
    r"identify|ascertain|decide|state|provide|give|locate|judge|assess|address|infer|draw)"
)
_TOLD = (
    r"(?:specified|mentioned|given|provided|stated|included|available|discussed|covered|addressed|"
    r"detailed|found|contained|described|listed|explained|present|indicated|reported|disclosed|"
    r"answered|clear|said|named|identified|documented)"
)
_FOUND_OUT = (
    r"(?:answered|determined|found|verified|established|known|told|inferred|ascertained|located|"
    r"confirmed)"
)
_NO_MORE = r"[.!\s]*$"
_THE_QUESTION = (
    r"(?:(?:to|for|on)\s+(?:this|the|your|that)\s+(?:\w+\s+)?(?:question|query|topic|request))"
)
# A source that does not mention it.
_SILENT = (
    rf"{THE_MATERIAL}\s+{_ADVERB}{_NOT}\s+{_ADVERB}{_SAY}\b",
    rf"{THE_MATERIAL}\s+{_ADVERB}(?:contain|offer|give|provide|make|have|includ|hold|yield|return)"
    r"\w*\s+(?:no|nothing|little|insufficient|not\s+enough|only\s+limited)\b",
    rf"{THE_MATERIAL}\s+(?:says?|said|tells?|reveals?|mentions?|states?)\s+(?:us\s+)?nothing\b",
    rf"{THE_MATERIAL}\s+(?:is|are|was|were|remains?)\s+{_ADVERB}(?:silent|mute|insufficient|"
    r"inadequate|not\s+(?:sufficient|enough|adequate|clear|specific|relevant)|unclear|irrelevant|"
    r"unrelated)\b",
    rf"{THE_MATERIAL}\s+(?:lacks?\s+(?:(?:the|any|this|that|such|enough|sufficient)\s+)?"
    rf"{_KIND}{_LACKING}|leaves?\s+(?:this|it|the\s+question)\s+(?:open|unanswered))\b",
    # Of a material not all verbs will do: much else can be stated of it.
    rf"\b(?:the|these|those)\s+materials?\s+{_NOT}\s+{_ADVERB}(?:mention|say|specify|address|state|"
    r"discuss|answer|tell|indicate|explain|describe)\b",
    rf"\b(?:none|neither|not\s+one|few)\s+of\s+(?:the|these|those|my|our)\s+(?:{_GIVEN}\s+)*"
    rf"{_SOURCE}(?:\s+{_HERE})?\s+(?:{_ADVERB}{_SAYS}|(?:is|are)\s+relevant)\b",
    rf"\b(?:no|neither)\s+(?:{_GIVEN}\s+|single\s+)*{_SURELY}(?:\s+{_HERE})?\s+{_ADVERB}{_SAYS}\b",
    rf"\b(?:nothing|nowhere|no\s+{_LACKING})\s+(?:\w+\s+){{0,4}}?(?:in|within|of|from)\s+"
    rf"{THE_MATERIAL}",
    rf"\bno\s+(?:[\w-]+\s+){{1,4}}?(?:is|are|was|were)\s+{_TOLD}\s+(?:in|by|from|within)\s+"
    rf"{THE_MATERIAL}",
    rf"\b(?:not|never|nowhere|n['’]t)\s+(?:\w+ly\s+)?(?:be\s+)?{_TOLD}\s+(?:anywhere\s+)?"
    rf"(?:in|by|from|within)\s+{THE_MATERIAL}",
    r"\b(?:information|answer|details?|data)\b[^.;]{0,40}\b(?:missing|absent|lacking|not\s+in)\b"
    rf"[^.;]{{0,10}}{THE_MATERIAL}",
)
# Who answers is not able to, or nobody is by these sources.
_CANNOT = r"(?:cannot|can['’]t|can\s+not|could\s+not|couldn['’]t|not)"
_UNABLE = (
    r"\b(?:i|we)(?:['’]m|['’]re)?\s+(?:do\s+not|don['’]t|did\s+not|didn['’]t|cannot|can['’]t|"
    r"can\s+not|could\s+not|couldn['’]t|(?:am|are|was|were)\s+(?:not\s+able|unable)|not\s+able|"
    r"unable|have\s+(?:no|insufficient|not\s+enough|too\s+little)|lack|found\s+no|find\s+no|"
    r"have\s+not\s+found|haven['’]t\s+found)\b"
    r"(?=.{0,60}\b(?:know|answer|information|details?|access|determine|provide|say|tell|locate|"
    r"help|assist|confirm|verify|respond|sure|enough|idea|knowledge|"
    r"(?:find|found)\s+(?:this|that|it|any|the|an)\b))",
    rf"^(?:(?:unable|not\s+able|impossible|not\s+possible)\s+to|{_CANNOT})\s+{_FIND_OUT}\b",
    rf"^(?:this|it|that)\s+{_CANNOT}\s+be\s+answered\b",
    r"\b(?:is|it['’]s|was)\s+(?:not\s+possible|impossible|unclear|unknown|not\s+clear|difficult)\b"
    rf"[^.;]{{0,60}}\b(?:from|by|in|with|using|on)\s+{THE_MATERIAL}",
    rf"^(?:based|relying|judging|going|from|with|given|using|considering)\b[^,;]{{0,30}}"
    rf"{THE_MATERIAL}[^,;]{{0,30}},?\s+[^.;]{{0,40}}\b(?:"
    rf"(?:{_CANNOT}|(?:not\s+possible|impossible|difficult)\s+to|unable\s+to|no\s+way\s+to)\s+"
    rf"(?:be\s+)?(?:\w+ly\s+)?(?:{_FIND_OUT}|{_FOUND_OUT})\b|(?:is|it['’]s)\s+(?:unclear|"
    rf"unknown)\b)",
    rf"\b{_CANNOT}\s+be\s+{_FOUND_OUT}\b(?=.{{0,40}}\b(?:{THE_MATERIAL}|{_SURELY})\b)",
    r"\b(?:this|the|your)\s+question\s+(?:is\s+unanswerable|remains\s+unanswered|"
    rf"{_CANNOT}\s+be\s+answered)\b",
)
# Information that is not there.
_IS = r"(?:is|was|are|were)"
_TOO_LITTLE = r"(?:no|not\s+(?:any|enough|sufficient)|insufficient|inadequate|too\s+little)"
_ABSENT = (
    rf"\bthere\s*(?:{_IS}|['’]s)\s*(?:{_TOO_LITTLE}|n['’]t\s+(?:any|enough))\s+{_KIND}"
    rf"(?:information|answers?(?!\s+to\s+(?!this|the\s+question|your|that\s+question))|details?|"
    rf"context|"
    rf"(?:mention|reference|indication|discussion)\b[^.;]{{0,60}}{THE_MATERIAL})\b",
    rf"\bthere\s+{_IS}\s+nothing\b[^.;]{{0,30}}\b(?:in|from|within|among)\s+{THE_MATERIAL}",
    rf"\bthere\s+{_IS}\s+{_TOO_LITTLE}\s+(?:\w+\s+)?(?:{_SURELY}|data|evidence)\s+"
    r"(?:(?:that|which|to)\s+)?(?:answers?|address(?:es)?|respond|mention)\b",
    rf"^{_TOO_LITTLE}\s+{_KIND}(?:{_LACKING}|evidence)\b(?:{_NO_MORE}"
    rf"|(?=.{{0,60}}\bto\s+(?:answer|respond|say|tell)\b)"
    rf"|[^.;]{{0,40}}\b(?:in|from|within)\s+{THE_MATERIAL})",
    rf"^{_TOO_LITTLE}\s+{_KIND}{_LACKING}\b[^.;]{{0,40}}?\b"
    r"(?:found|available|provided|given|located|identified|retrieved)\b(?!\s+by\b)",
    r"^(?:the\s+)?(?:(?:requested|required|necessary|needed|relevant)\s+)?"
    rf"(?:answer|information|question|date|details?)\s+(?:{_THE_QUESTION}\s+)?"
    rf"(?:{_IS}|could|can)\s*(?:not|n['’]t)\s+(?:be\s+)?"
    rf"(?:available|known|located|determined|answerable|answered|{_TOLD}){_NO_MORE}",
    r"^(?:(?:the\s+)?(?:answer|information|question)\s+)?(?:is\s+)?(?:unknown|unanswerable|n/?a|"
    rf"not\s+(?:known|answerable|{_TOLD})|cannot\s+be\s+{_FOUND_OUT}){_NO_MORE}",
    rf"^{_TOO_LITTLE}\s+{_KIND}(?:information|details?|"
    rf"context)\s+(?:\w+\s+){{0,3}}?to\s+{_FIND_OUT}\b",
    rf"^no\s+{_KIND}(?:(?:search|matching)\s+)?{_SOURCE}\s+(?:{_IS}\s+|could\s+be\s+)?"
    rf"(?:found|retrieved|provided|available|returned|given)(?:{_NO_MORE}|\s+(?:for|on|about|"
    rf"that)\b)",
    r"^(?:the|my|our)\s+search\s+(?:has\s+)?(?:returned|found|gave|yielded|produced)\s+"
    rf"(?:nothing{_NO_MORE}|no\s+{_KIND}(?:results?|documents?|passages?|sources?|information|"
    rf"matches)\b)",
    rf"\b(?:evidence|information|data|context)\s+{_IS}\s+(?:insufficient|inadequate|too\s+\w+|"
    r"not\s+(?:sufficient|enough|adequate))\s+to\s+(?:answer|respond)\b",
    rf"^(?:more|further|additional)\s+(?:information|context|details?)\s+(?:{_IS}|would\s+be)\s+"
    r"(?:needed|required|necessary)\s+to\s+(?:answer|respond)\b",
)
_APOLOGY = re.compile(
    r"^(?:(?:i['’]m|i\s+am|we\s+are|we['’]re)\s+)?(?:(?:very|so)\s+)?"
    r"(?:sorry|afraid|unfortunately|apologies|regrettably|sadly)\b[,!.:]?\s*(?:(?:but|that)\s+)?",
    re.IGNORECASE,
)
# None of the above is possible without one of these; most sentences have none.
_ENGLISH = _language(
    r"\b(?:no|not|none|neither|nothing|nowhere|never|cannot|unable|insufficient|inadequate|lack|"
    r"lacks|"
    r"lacking|silent|mute|omits?|missing|absent|un(?:known|clear|answerable|answered)|impossible|"
    r"fail(?:s|ed)?|n/?a|more|further|additional|unrelated|little|few|difficult|limited|too|"
    r"leaves?|irrelevant)\b|n['’]t\b",
    *(*_SILENT, *_UNABLE, *_ABSENT),
)
# All characters that `lack` matches in a language written in Latin letters.
_WORD = re.compile(r"[\w'’/]+")
# With a model that finds no claim, less will do: a denial, and a word of sources or of answering.
_ABOUT_ANSWERING = re.compile(
    rf"\b(?:{_SOURCE}|{_LACKING}|answer\w*|question|query|asked|request\w*|i|we)\b",
    re.IGNORECASE,
)


def declines(sentence: str) -> bool:
    """Return whether a sentence, or a part of one, states that an answer is lacking."""
    lacking = {one for word in set(_WORD.findall(sentence)) for one in _languages_lacking(word)}
    if _ENGLISH in lacking and _ENGLISH.declines(_APOLOGY.sub("", sentence)):
        return True
    plain = sentence if sentence.isascii() else _ZERO_WIDTH.sub(" ", sentence)
    if any(language.declines(plain) for language in lacking - {_ENGLISH}):
        return True
    if sentence.isascii():
        return False
    return any(one.lack.search(plain) and one.declines(plain) for one in _OTHERS)


# Word by word, since a search of whole sentences takes ten times as long.
@lru_cache(maxsize=1 << 14)
def _languages_lacking(word: str) -> tuple[Language, ...]:
    """Return the languages in Latin letters in which a word may say that something is lacking."""
    return tuple(one for one in (_ENGLISH, *_LATIN) if one.lack.search(word))


def may_decline(sentence: str) -> bool:
    """Return whether a sentence in which a model found no claim can be read as declining."""
    lacking = _ENGLISH.lack.search(sentence) and _ABOUT_ANSWERING.search(sentence)
    return bool(lacking) or declines(sentence)
