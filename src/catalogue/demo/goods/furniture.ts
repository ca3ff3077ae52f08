import { COLORS, kind } from './kind.ts';

export const FURNITURE = [
  kind({
    category: 'мебель',
    weight: 44,
    gender: 'm',
    wear: 'furniture',
    bulky: true,
    noun: 'диван',
    english: 'sofa',
    models: `
      -: угловой 34000 x5; прямой раскладной 24000 x4; книжка 17000 x3; аккордеон 22000 x2; еврокнижка 26000 x3; детский 12000
      IKEA: Фрихетэн 42000; Экторп 48000; Клиппан 24000
      Много Мебели: Атланта 29000; Амстердам 34000
      Hoff: Мадрид 46000; Нортон 52000
      Аскона: Карина 62000; Доминик 78000
    `,
    slots: {
      cover: 'велюр=velour; рогожка=woven fabric; экокожа=faux leather; микровельвет=corduroy; шенилл=chenille',
      color: COLORS,
      sleep: '140×200; 160×200; 150×195; 120×190',
    },
    titles: `
      Диван $full
      Диван $full, $color
      Диван $full, $cover
      $Color диван $full
    `,
    about: `
      Обивка $cover, цвет $color:m, [ящик для белья|подушки в комплекте|механизм исправен]
      Спальное место $sleep, [раскладывается легко|пружины не чувствуются|спать удобно]
      ~ [Стоял в гостиной|Стоял в гостевой, спали пару раз|Брали год назад], чехлы [снимаются и стираются|чистые]
      Разбирается, [в легковую не войдёт|нужна газель]. [Поможем вынести|Есть грузовой лифт]
      Цвет $color:m, обивка $cover, спальное место $sleep
    `,
    titlesEn: `
      Sofa $full, $color
      $full $color sofa bed
    `,
    aboutEn: `
      $cover, $color, with a storage box
      Sleeping area $sleep, [folds out easily|comfortable for two]
      ~ It stood in the guest room, covers can be washed
      $color, $cover, sleeping area $sleep
    `,
  }),
  kind({
    category: 'мебель',
    weight: 26,
    gender: 'f',
    wear: 'furniture',
    bulky: true,
    noun: 'кровать',
    english: 'bed',
    models: `
      -: двуспальная 22000 x4; односпальная 12000 x3; двухъярусная 20000 x2; с подъёмным механизмом 30000 x3
      IKEA: Мальм 24000; Хемнэс 27000; Нейден 9000
      Аскона: Виктория 38000; Марта 32000
      Орматек: Афина 30000; Рокси 34000
    `,
    slots: {
      sleep: '160×200; 180×200*1.12; 140×200*0.92',
      color: COLORS,
      tree: 'массив сосны=solid pine; ЛДСП=chipboard*0.9; массив берёзы=solid birch*1.1',
    },
    titles: `
      Кровать $full
      Кровать $full, $color
      Кровать $full с матрасом
    `,
    about: `
      ~ Материал $tree, цвет $color:m, [ламели все целые|не скрипит|основание усиленное]
      [Матрас отдам вместе с кроватью|Матрас в подарок|Матрас покупали отдельно], [следов от животных нет|дом без курящих]
      ~ Разобрана, [готова к перевозке|инструкция по сборке есть|все болты в пакете]
      Материал $tree, спальное место $sleep, цвет $color:m
    `,
    titlesEn: `
      Bed $full, $color
      $full bed with a mattress
    `,
    aboutEn: `
      ~ $tree, $color, does not creak
      Already taken apart, all screws are in a bag. [The mattress is included|No pets, no smokers]
      $tree, $sleep, $color
    `,
  }),
  kind({
    category: 'мебель',
    weight: 26,
    gender: 'm',
    wear: 'furniture',
    bulky: true,
    noun: 'шкаф',
    english: 'wardrobe',
    models: `
      -: купе 28000 x4; распашной 16000 x3; угловой 24000 x2; для одежды 14000 x2; книжный 11000 x2; пенал 6500 x2
      IKEA: Пакс 34000 x2; Бримнэс 16000; Биллы 8500
      Столплит: Сигма 15000; Рио 21000
      Hoff: Монако 36000
    `,
    slots: { width: '80*0.85; 120; 150*1.08; 180*1.16; 200*1.2', color: COLORS },
    titles: `
      Шкаф $full
      Шкаф $full, $width см
      $Color шкаф $full
    `,
    about: `
      Ширина $width см, цвет $color:m, [зеркало во весь рост|полки и штанга|двери ходят легко]
      ~ [Уже разобран|Разберём при вас], [детали пронумерованы|крепёж весь]
      ~ [Стоял в прихожей|Стоял в детской], [запаха нет|ножки регулируются]
      [Фасады матовые|Фасады глянцевые], ширина $width см, цвет $color:m
    `,
    titlesEn: `
      Wardrobe $full, $width cm
    `,
    aboutEn: `
      Width $width cm, $color, with shelves and a rail
      ~ [Taken apart and ready to move|We will take it apart together]
      $color, $width cm wide, with a mirror
    `,
  }),
  kind({
    category: 'мебель',
    weight: 28,
    gender: 'm',
    wear: 'furniture',
    bulky: true,
    noun: 'стол',
    english: 'table',
    models: `
      -: обеденный раздвижной 13000 x4; письменный 7500 x4; компьютерный 8000 x3; журнальный 4500 x3; кухонный 6000 x2; туалетный с зеркалом 9000
      IKEA: Лакк 2500; Микке 7500; Экедален 15000; Лиатор 13000
      Hoff: Портофино 19000
    `,
    slots: {
      size: '120×60; 100×60; 110×70; 140×80; 90×60',
      top: 'столешница без царапин=the top has no scratches; столешница под дерево=wood effect top; столешница стеклянная=glass top',
      color: COLORS,
    },
    titles: `
      Стол $full
      Стол $full, $size
      $Color стол $full
    `,
    about: `
      Размер $size см, $top, [ножки регулируются|не шатается|собран крепко]
      ~ [Стоял у окна|Использовали для учёбы|Работали за ним из дома], цвет $color:m
      ~ [Стулья отдам отдельно|Стулья в подарок, если нужны], [разбирается|войдёт в легковую]
      Цвет $color:m, $size см, $top
    `,
    titlesEn: `
      Table $full, $size
      $Color table $full
    `,
    aboutEn: `
      Size $size cm, $top, steady
      ~ [It was my desk for remote work|Good for a student], fits into a car
      $size cm, $color, $top
    `,
  }),
  kind({
    category: 'мебель',
    weight: 22,
    gender: 'n',
    wear: 'furniture',
    bulky: true,
    noun: 'кресло',
    english: 'armchair',
    models: `
      -: офисное 7500 x4; компьютерное игровое 13000 x3; раскладное 14000 x2; мешок 3500 x2; качалка 9500; для кормления 8500
      IKEA: Поэнг 12000 x2; Страндмон 21000; Маркус 19000
      Бюрократ: CH-599 9000; T-9927 13000
    `,
    slots: { color: COLORS, cover: 'ткань=fabric; экокожа=faux leather; велюр=velour' },
    titles: `
      Кресло $full
      Кресло $full, $color
      $Color кресло $full
    `,
    about: `
      ~ Обивка $cover, цвет $color:m, [чистое, без пятен|сидеть удобно|спина не устаёт]
      ~ [Стояло в кабинете|Стояло в спальне|Брали для удалёнки], [ничего не скрипит|колёсики целые|каркас крепкий]
      Обивка $cover, цвет $color:m, [высота регулируется|подлокотники деревянные|каркас крепкий]
      Цвет $color:m, материал $cover, [до 120 кг|лёгкое, поднимете одни]
    `,
    titlesEn: `
      Armchair $full, $color
      $full $color chair
    `,
    aboutEn: `
      ~ $cover, $color, clean and comfortable
      ~ It stood in my home office, nothing creaks
      $cover, $color, comfortable
    `,
  }),
];
